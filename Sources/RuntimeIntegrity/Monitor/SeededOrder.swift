// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A sequence for shuffling, from one random number (SplitMix64, Steele and others 2014). Not fit for keys.
struct SeededOrder: RandomNumberGenerator {
    /// Where it stands.
    var state: UInt64

    /// The next number.
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
