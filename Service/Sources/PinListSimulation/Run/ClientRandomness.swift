// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The random numbers of one installation: SplitMix64 (Steele, Lea and Flood, 2014), whose state is made of the seed, the
/// installation and what the numbers are for. So installations are independent of each other and of their order, and the
/// refreshes of one do not change when it is opened.
struct ClientRandomness: Sendable {
    /// The purpose of random numbers.
    enum Purpose: UInt64 {
        /// The traits of an installation: its place in rollouts, its rate, when it is offline.
        case traits = 1
        /// The times at which it is opened.
        case openings
        /// The fractions that the client library draws.
        case fractions
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    /// Begins.
    init(seed: UInt64, client: Int, _ purpose: Purpose) {
        let own = Self.mixed(UInt64(truncatingIfNeeded: client) &* Self.step &+ purpose.rawValue)
        self.state = Self.mixed(seed &+ Self.step) ^ Self.mixed(own)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// 64 random bits.
    mutating func bits() -> UInt64 {
        self.state &+= Self.step
        return Self.mixed(self.state)
    }

    /// A number from 0 up to, and without, 1: of the bits what the client library takes of them.
    mutating func fraction() -> Double { Double(self.bits() >> 11) * 0x1p-53 }

    /// A number above 0, up to 1.
    private mutating func positiveFraction() -> Double { 1 - self.fraction() }

    /// A number of the exponential distribution with the mean 1.
    mutating func exponential() -> Double { -log(self.positiveFraction()) }

    /// A number of the normal distribution (Marsaglia's polar method; the second number is not kept).
    private mutating func normal() -> Double {
        while true {
            let first = 2 * self.fraction() - 1
            let square = first * first + { $0 * $0 }(2 * self.fraction() - 1)
            if square > 0, square < 1 { return first * sqrt(-2 * log(square) / square) }
        }
    }

    /// A number of the gamma distribution with the scale 1 (Marsaglia and Tsang, 2000).
    ///
    /// - Parameter shape: Above 0.
    mutating func gamma(shape: Double) -> Double {
        // Below 1: of the shape that is larger by 1, and a power of a fraction.
        let isSmall = shape < 1
        let third = (isSmall ? shape + 1 : shape) - 1.0 / 3
        let width = 1 / sqrt(9 * third)
        while true {
            let normal = self.normal()
            let root = 1 + width * normal
            guard root > 0 else { continue }
            let cube = root * root * root
            guard log(self.positiveFraction()) < normal * normal / 2 + third * (1 - cube + log(cube)) else { continue }
            return third * cube * (isSmall ? pow(self.positiveFraction(), 1 / shape) : 1)
        }
    }

    /// The number of failures before the next success, at most `most`.
    ///
    /// - Parameter share: The probability of a success, from 0 to 1.
    mutating func failures(share: Double, maximum: Int64) -> Int64 {
        guard share > 0 else { return maximum }
        guard share < 1 else { return 0 }
        let failures = (log(self.positiveFraction()) / log1p(-share)).rounded(.down)
        return min(Int64(exactly: failures) ?? maximum, maximum)
    }
}
