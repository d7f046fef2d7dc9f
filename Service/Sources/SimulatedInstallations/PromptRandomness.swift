// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListClient

/// Random numbers below a 64th of all that there are: the random part of a wait is so short that nothing waits, and
/// installation ids are different all the same.
///
/// A report waits for a random part of a minute before it is first sent, and on a ``StandingClock`` no wait ends.
struct PromptRandomness: PinningRandomness {
    /// 58 random bits, after six that are 0.
    func bits() -> UInt64 { UInt64.random(in: 0...(.max >> 6)) }
}
