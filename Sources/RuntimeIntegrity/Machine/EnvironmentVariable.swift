// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A variable of the environment.
public struct EnvironmentVariable: Hashable, Sendable {
    /// What stands before the first `=`.
    public let name: String

    /// What stands behind it.
    public let value: String

    /// Creates a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The variables of a block: entries that end with a zero each, as in `/proc/self/environ`.
    static func parse(_ bytes: [UInt8]) -> [Self] {
        bytes.split(separator: 0).compactMap { entry in
            guard let equals = entry.firstIndex(of: 0x3D) else { return nil }
            return Self(
                name: String(decoding: entry[..<equals], as: UTF8.self),
                value: String(decoding: entry[(equals + 1)...], as: UTF8.self))
        }
    }
}
