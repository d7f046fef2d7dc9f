// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs `body` with a new, empty folder, which is removed afterwards in any case.
func withTemporaryFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tumbler-command-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

extension URL {
    /// Writes a file into this folder.
    @discardableResult
    func write(_ contents: Data, as name: String) throws -> URL {
        let file = self.appendingPathComponent(name)
        try contents.write(to: file)
        return file
    }

    /// Writes a text into this folder.
    @discardableResult
    func write(_ text: String, as name: String) throws -> URL { try self.write(Data(text.utf8), as: name) }

    /// Writes a text into this folder that its owner alone can read.
    func writeSecret(_ text: String, as name: String) throws {
        let file = try self.write(text, as: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Reads a file of this folder.
    func contents(of name: String) throws -> Data { try Data(contentsOf: self.appendingPathComponent(name)) }

    /// Reads a text of this folder.
    func text(of name: String) throws -> String { String(decoding: try self.contents(of: name), as: UTF8.self) }

    /// Joins files of this folder into one.
    func join(_ names: [String], into name: String) throws {
        try self.write(try names.reduce(into: Data()) { $0.append(try self.contents(of: $1)) }, as: name)
    }
}
