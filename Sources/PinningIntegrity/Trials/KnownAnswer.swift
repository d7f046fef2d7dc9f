// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An input of a function that decides, and the answer that it has to get: what a canary tries. For adapters.
///
/// Plain closures, because this module knows nobody who tries them. Inputs are made anew each time, look like those of
/// any app, and reach the functions themselves, not the client's state: no event, report, count or cache knows of them.
struct KnownAnswer: Sendable {
    /// Which function: `verdict`, `list-signature`, `hash`, or an adapter's `path` and `connection`.
    let function: String

    /// Whether the input has to be accepted; else it has to be refused.
    let isGood: Bool

    /// Puts an input through the function, and says whether it was accepted. An input that cannot be made counts as what
    /// it should have come to: a lack of random numbers or of memory is nobody's attack.
    let isAccepted: @Sendable () async -> Bool

    /// States an answer.
    ///
    /// - Parameters:
    ///   - function: Which function.
    ///   - isGood: Whether the input has to be accepted.
    ///   - isAccepted: Puts it through; `nil` when the input could not be made.
    init(_ function: String, isGood: Bool, _ isAccepted: @escaping @Sendable () async -> Bool?) {
        self.function = function
        self.isGood = isGood
        self.isAccepted = { await isAccepted() ?? isGood }
    }
}
