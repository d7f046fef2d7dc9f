// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program of the machine that a test runs.
struct InstalledProgram: Sendable {
    /// A program that did not end with 0.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let executable: URL

    /// Finds a program on PATH, or where the system keeps those for root; `nil` when it is not there.
    init?(_ name: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let found = (folders + ["/usr/sbin", "/sbin"])
            .map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else { return nil }
        self.executable = found
    }

    /// Runs it to its end.
    ///
    /// - Throws: ``Failure``, with what it said, when it does not end with 0.
    func run(_ arguments: [String]) async throws {
        let finished = try await FinishedProcess.run(
            self.executable, arguments, in: FileManager.default.temporaryDirectory)
        guard finished.status == 0 else {
            let said = String(decoding: finished.output + finished.errors, as: UTF8.self)
            throw Failure(description: "\(self.executable.path) ended with \(finished.status): \(said)")
        }
    }
}
