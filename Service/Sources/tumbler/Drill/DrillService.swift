// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository

/// A service of a drill: the real one, `tumbler-service`, as a process of its own, on loopback, with SQLite in the folder
/// of the drill.
struct DrillService: Sendable {
    /// Its address, without a slash at its end.
    let address: String
    /// The lists that it serves.
    let lists: DrillLists
    /// The file with the token that publishes.
    let tokenFile: URL

    private let program: String
    private let configuration: URL
    private let process: DrillProcess

    /// Starts it.
    ///
    /// - Parameters:
    ///   - folder: The folder of the drill.
    ///   - name: The name of the list.
    ///   - root: The root that the app ships.
    /// - Throws: ``CommandError`` when it does not start.
    static func start(in folder: URL, name: String, root: [UInt8]) async throws -> DrillService {
        let program = try CompanionProgram.service.installed()
        let configuration = folder.appendingPathComponent("tumbler-service.yaml")
        let rootFile = folder.appendingPathComponent("shipped-root.json")
        // The installations of the drill say in X-Forwarded-For where they are.
        let text = "listen: 127.0.0.1:0\ndataDir: service\ntrustedProxies: [127.0.0.1]\n"
        try Data(text.utf8).write(to: configuration)
        try Data(root).write(to: rootFile)
        let process = DrillProcess(
            program,
            [
                ServiceCommand.serve.rawValue, "--config", configuration.path, "--name", "\(name)=\(rootFile.path)",
                "--log-level", "error",
            ])
        do {
            guard let address = await process.line(after: "operator ") else {
                try Task.checkCancellation()
                throw CommandError(
                    .undecided, "the service of the drill did not start: \(await process.stop())",
                    hint: "\(program) is the program")
            }
            let token = ["create", "--scope", "publish", "--name", name, "--config", configuration.path]
            let secret = try await DrillProcess.output(of: program, [ServiceCommand.token.rawValue] + token)
            let tokenFile = folder.appendingPathComponent("publish.token")
            try CommandError.wrapping { () throws(RepositoryError) in
                try WrittenFile.write(Array("\(secret)\n".utf8), to: tokenFile.path, .secret, existing: .kept)
            }
            return DrillService(
                address: address, lists: DrillLists(try ServiceAddress(address, from: "the drill"), name: name),
                tokenFile: tokenFile, program: program, configuration: configuration, process: process)
        } catch {
            await process.stop()
            throw error
        }
    }

    /// A link that logs a browser in to the dashboard, once.
    ///
    /// - Throws: ``CommandError``.
    func loginLink() async throws -> String {
        try await DrillProcess.output(
            of: self.program,
            [
                ServiceCommand.loginLink.rawValue, "--address", self.address, "--config", self.configuration.path,
            ])
    }

    /// Ends it, when what it accepted is stored.
    func stop() async { await self.process.stop() }
}
