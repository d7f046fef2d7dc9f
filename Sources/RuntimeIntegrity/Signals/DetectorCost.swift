// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How much time a detector takes, and therefore when it is asked.
public struct DetectorCost: Hashable, Sendable, CustomStringConvertible {
    /// `connection` or `occasional`.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Some tens of microseconds: before each connection.
    public static let connection = Self("connection")
    /// More, or it waits for somebody: at start and at random times.
    public static let occasional = Self("occasional")
}
