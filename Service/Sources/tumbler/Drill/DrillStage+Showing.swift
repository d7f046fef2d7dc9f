// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListRepository

extension DrillStage {
    /// The statements of the served list now, by the clock of this machine, which commands go by.
    func situation() async throws -> DrillSituation {
        let (list, roots) = try await self.service.lists.newest()
        return try DrillSituation(list: list, roots: roots, host: self.source.host, at: SystemClock().now)
    }

    /// The introduction for the person.
    ///
    /// - Parameter link: Logs in to the dashboard, once; `nil` without a person, where the output may be kept.
    func introduction(_ link: String?) -> [String] {
        let (project, host) = (self.project.folder.path, self.source.host)
        return [
            "A drill for \(host) of \(self.source.name). All of it is on this machine, with throw-away keys:",
            "  project   \(project)",
            "  token     export \(ServiceToken.environmentName)=\(self.service.tokenFile.path), in another terminal",
            "  service   \(self.service.address), by tumbler status",
            "  server    localhost:\(self.server.port), for tumbler pin localhost:\(self.server.port)",
            "Something is broken now. help says what can be typed here; another terminal does as well.",
        ] + self.browser(link) + self.allowance
    }

    private func browser(_ link: String?) -> [String] {
        guard let link else { return [] }
        return ["In a browser, once, within ten minutes:", "  \(link)"]
    }

    private var allowance: [String] {
        guard !self.allowed.isEmpty else { return [] }
        let options = self.allowed.map { "--allow \($0)" }.joined(separator: " ")
        return ["Before anything was broken lint found errors in the list; release needs \(options)."]
    }

    /// A command as one would type it in the project: without what is the drill's alone.
    ///
    /// - Parameters:
    ///   - words: The words; paths are absolute.
    ///   - program: The program before them.
    func shown(_ words: [String], of program: String? = "tumbler") -> String {
        var rest = words[...]
        var shown = program.map { [$0] } ?? []
        while let word = rest.popFirst() {
            if word == "-C" || word == "--token-file" {
                _ = rest.popFirst()
            } else {
                shown.append(
                    word.replacing("\(self.project.folder.path)/", with: "")
                        .replacing(self.service.address, with: "SERVICE"))
            }
        }
        return shown.joined(separator: " ")
    }
}
