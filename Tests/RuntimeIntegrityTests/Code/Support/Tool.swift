// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A program of the system that is the second implementation of something, found by PATH.
struct Tool: Sendable {
    /// Clang, as it comes with Swift.
    static let clang = Tool("clang")
    /// GNU's reader of ELF files.
    static let readelf = Tool("readelf")
    /// LLVM's disassembler, and reader of both formats.
    static let objdump = Tool("llvm-objdump")

    private let executable: URL?

    /// Whether it is there, and its files are of this system's format.
    var isHere: Bool { self.executable != nil }

    private init(_ name: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        self.executable = folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// What it prints.
    func output(_ arguments: [String], in folder: URL = FileManager.default.temporaryDirectory) async throws -> String {
        let finished = try await FinishedProcess.run(try #require(self.executable), arguments, in: folder)
        try #require(finished.status == 0, "\(String(decoding: finished.errors, as: UTF8.self))")
        return String(decoding: finished.output, as: UTF8.self)
    }
}
