// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension URL {
    /// Writes a program into this folder. Another process writes it: what this one has open for writing a child that is
    /// started meanwhile has, too, and a file that is open for writing is not executed (ETXTBSY).
    func writeProgram(_ text: String, as name: String) async throws {
        let place = self.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        let file = try self.write(text, as: name + ".text")
        let copied = try await FinishedProcess.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", #"cp "$0" "$1" && chmod 755 "$1""#, file.path, place.path], in: self
        )
        try #require(copied.status == 0)
    }
}
