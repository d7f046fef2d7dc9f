// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// JSON on standard output: members sorted, so that the same result is the same bytes.
enum JSONOutput {
    /// One value as one line, without the line break.
    static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Writes one value as one line.
    static func write(_ value: some Encodable) throws {
        try StandardOutput.write(try self.line(value) + Data("\n".utf8))
    }
}
