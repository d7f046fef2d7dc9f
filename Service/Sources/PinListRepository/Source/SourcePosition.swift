// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A place in a file that people write: errors and findings name it.
public struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The file, as it was named.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1, in Unicode scalars, as editors count it.
    public let column: Int

    /// Names a place.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `tumbler.yaml:12:5`
    public var description: String { "\(self.file):\(self.line):\(self.column)" }

    /// An error at this place.
    package func error(_ reason: String, hint: String? = nil) -> RepositoryError {
        RepositoryError(.source, "\(self): \(reason)", hint: hint)
    }
}
