// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListClient

/// Random numbers that a test chose.
public struct FixedRandomness: PinningRandomness {
    private let value: UInt64

    /// Always this fraction of all there is: 0 waits not at all, just below 1 waits longest.
    ///
    /// - Parameter fraction: From 0 up to, and without, 1.
    public init(fraction: Double) {
        self.value = UInt64(exactly: (min(max(fraction, 0), 0.999_999) * 0x1p64).rounded()) ?? 0
    }

    /// The chosen bits.
    public func bits() -> UInt64 { self.value }
}
