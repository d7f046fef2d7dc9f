// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import tumbler

/// A server of HTTPS on loopback, and clients that the bench runs against every case.
struct InterceptScene {
    /// curl, where it is installed.
    static let curl: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(fileURLWithPath: String($0), isDirectory: true).appendingPathComponent("curl") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    let fetch: FetchScene

    /// Runs `body` beside such a server.
    static func with(_ body: (InterceptScene) async throws -> Void) async throws {
        try await FetchScene.with { fetch in
            try fetch.folder.write(try fetch.pki.intermediate.pem, as: "issuing.pem")
            try fetch.folder.write(try fetch.pki.intermediate.keyPEM, as: "issuing.key")
            try await body(InterceptScene(fetch: fetch))
        }
    }

    var folder: URL { self.fetch.folder }

    /// A line of curl that trusts the server's root and the bench.
    static func curl(_ options: String = "") -> String {
        "cat anchors.pem ca.pem > all.pem; curl -sS -L -m 600 --cacert all.pem \(options)"
            + " --connect-to ::127.0.0.1:$TUMBLER_PORT https://\(FetchScene.host):$TUMBLER_PORT/"
    }

    /// `tumbler fetch` with a pin, which trusts the same.
    static func fetch(_ pin: Pin) throws -> String {
        let program = try #require(CommandRun.program, "there is no tumbler beside the tests").path
        return "cat anchors.pem ca.pem > all.pem; '\(program)' fetch https://\(FetchScene.host):$TUMBLER_PORT/"
            + " --pin \(pin) --cacert all.pem --connect-to ::127.0.0.1:$TUMBLER_PORT"
    }

    /// Runs the bench with a client, which is a line of shell; without one the client is up to the options.
    func intercept(_ options: [String] = [], client line: String? = nil) async throws -> CommandRun {
        let arguments =
            ["intercept", "--upstream", "\(FetchScene.host)=127.0.0.1:\(self.fetch.server.port)"]
            + ["--listen", "127.0.0.1:0", "--ca-out", "ca.pem"] + options
        return try await CommandRun.tumbler(
            arguments + (line.map { ["--", "/bin/sh", "-c", $0] } ?? []), in: self.folder)
    }

    /// The options for the case that needs a CA of the server's PKI.
    static let intermediate = ["--intermediate", "issuing.pem", "--intermediate-key", "issuing.key"]
}

extension CommandRun {
    /// The outcome of each case of the bench.
    var outcomes: [String: String] {
        Dictionary(
            self.lines.compactMap { line in
                line.range(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
            }, uniquingKeysWith: { first, _ in first })
    }
}
