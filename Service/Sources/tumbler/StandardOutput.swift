// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What goes to standard output: results, and nothing else.
enum StandardOutput {
    /// Writes a result whole.
    ///
    /// - Throws: ``CommandFailure`` when it cannot be written: a full disk, or a reader that went away.
    static func write(_ result: Data) throws(CommandFailure) {
        do {
            try FileHandle.standardOutput.write(contentsOf: result)
        } catch {
            throw CommandFailure(.undecided, "the result cannot be written to standard output")
        }
    }

    /// Writes lines of text.
    ///
    /// - Throws: ``CommandFailure`` when they cannot be written.
    static func write(lines: [String]) throws(CommandFailure) {
        try self.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}
