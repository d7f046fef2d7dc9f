// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The source of random numbers. A protocol, so that a test can choose them.
public protocol PinningRandomness: Sendable {
    /// 64 random bits.
    func bits() -> UInt64
}

/// The random numbers of the system, fit for keys.
public struct SystemRandomness: PinningRandomness {
    /// Creates the source.
    public init() {}

    /// 64 bits of `SystemRandomNumberGenerator`.
    public func bits() -> UInt64 { UInt64.random(in: .min ... .max) }
}

extension PinningRandomness {
    /// A number from 0 up to, and without, 1.
    func fraction() -> Double { Double(self.bits() >> 11) * 0x1p-53 }

    /// A whole number from 0 up to, and with, another one.
    func whole(upTo maximum: Int64) -> Int64 {
        let count = UInt64(clamping: maximum) + 1
        return Int64(clamping: self.bits().multipliedFullWidth(by: count).high)
    }

    /// Random bytes.
    ///
    /// - Parameter count: The number of bytes.
    @_spi(Adapters) public func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let bits = self.bits()
            for shift in 0..<8 where bytes.count < count {
                bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * shift)))
            }
        }
        return bytes
    }
}
