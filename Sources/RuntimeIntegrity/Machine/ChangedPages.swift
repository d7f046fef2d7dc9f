// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Pages of a file's code that are no longer the file's.
public struct ChangedPages: Hashable, Sendable {
    /// The file.
    public let path: String

    /// How many, at least one.
    public let count: Int

    /// Creates a value.
    public init(path: String, count: Int) {
        self.path = path
        self.count = count
    }
}
