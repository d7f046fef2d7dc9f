// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a type does that its protocol does not allow, or an embedded file that does not hold.
public struct Incompatibility: Error, Hashable, Sendable, CustomStringConvertible {
    /// What should be, and is not.
    public let description: String

    init(_ description: String) { self.description = description }

    /// Throws when something does not hold.
    static func unless(_ holds: Bool, _ description: String) throws(Incompatibility) {
        guard holds else { throw Incompatibility(description) }
    }
}
