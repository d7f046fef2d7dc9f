// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A descriptor of this process.
public struct OpenDescriptor: Hashable, Sendable {
    /// Its number.
    public let number: Int32

    /// What it leads to: a path, or what the system calls it (`socket:[1234]`, `anon_inode:[eventfd]`).
    public let target: String

    /// Creates a value.
    public init(number: Int32, target: String) {
        self.number = number
        self.target = target
    }
}
