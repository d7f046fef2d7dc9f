// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListClient

/// Random numbers that a test chooses.
public struct FixedRandomness: PinningRandomness {
    private let value: UInt64

    /// Always the same fraction of the range: 0 gives the shortest wait, just below 1 the longest.
    ///
    /// - Parameter fraction: From 0 up to, and without, 1.
    public init(fraction: Double) {
        self.value = UInt64(exactly: (min(max(fraction, 0), 0.999_999) * 0x1p64).rounded()) ?? 0
    }

    /// The chosen bits.
    public func bits() -> UInt64 { self.value }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): random enough for tests, and the same from each seed on every platform, so
/// that a failure can be run again. Not for keys that are trusted.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins anew; equal seeds give equal numbers.
    public init(seed: UInt64) { self.state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number of random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: self.next()) }
    }
}
