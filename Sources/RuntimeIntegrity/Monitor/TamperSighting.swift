// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A signal, and when it was seen.
public struct TamperSighting: Hashable, Sendable {
    /// The signal, with the highest confidence so far.
    public var signal: TamperSignal

    /// When it was seen first, in the clock's nanoseconds.
    public let firstSeen: UInt64

    /// When it was seen last.
    public var lastSeen: UInt64
}
