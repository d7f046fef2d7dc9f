// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The `python3` on PATH: a second implementation of JSON, Base64 and SHA-256.
enum Python {
    /// A script that did not end well.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The first `python3` on PATH, or `nil`.
    static let installed: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0), isDirectory: true).appendingPathComponent("python3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// Runs a script over some standard input and gives what it printed, without the last line end.
    ///
    /// - Throws: ``Failure``, with what it said, when it does not end with 0.
    static func run(_ script: String, input: [UInt8]) async throws -> String {
        guard let python = self.installed else { throw Failure(description: "there is no python3 on PATH") }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tumbler-tests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("input")
        try Data(input).write(to: file)
        let run = try await FinishedProcess.run(python, ["-I", "-c", script], in: folder, standardInput: file)
        guard run.status == 0 else {
            throw Failure(
                description: "python ended with \(run.status): \(String(decoding: run.errors, as: UTF8.self))")
        }
        let output = String(decoding: run.output, as: UTF8.self)
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }
}
