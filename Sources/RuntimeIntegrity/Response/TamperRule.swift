// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What an app does about one signal, beside recording and attaching it.
public struct TamperRule: Hashable, Sendable {
    /// The signal.
    public let signal: SignalName

    /// What is done.
    public let actions: Set<TamperAction>

    /// The least confidence with which it is done.
    public let from: Confidence

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - signal: The signal.
    ///   - actions: What is done.
    ///   - confidence: Signals of low confidence are seen in honest processes, so that the default is medium.
    public init(_ signal: SignalName, _ actions: Set<TamperAction>, from confidence: Confidence = .medium) {
        self.signal = signal
        self.actions = actions
        self.from = confidence
    }
}
