// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A real server on loopback, in Python: the other side of what is tested here.
enum HTTPServer {
    /// The first `python3` on PATH, or `nil`.
    static let python: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0), isDirectory: true).appendingPathComponent("python3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Runs `body` beside the server.
    ///
    /// - Parameter body: Is given the base address, without a slash at its end.
    static func serving<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        try await self.telling { base, _ in try await body(base) }
    }

    /// Runs `body` beside the server.
    ///
    /// - Parameter body: Is given the base address, and the server, which prints a line when it answers `/redirect-told`.
    static func telling<Result>(_ body: (String, inout RunningProcess) async throws -> Result) async throws -> Result {
        let python = try #require(self.python, "there is no python3")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("http-server.py")
        let folder = FileManager.default.temporaryDirectory
        return try await withRunningProcess(python, [script.path], in: folder) { server in
            let port = try #require(await server.nextLine(), "the server did not start")
            return try await body("http://127.0.0.1:\(port)", &server)
        }
    }
}
