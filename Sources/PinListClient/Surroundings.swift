// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What an app noticed of the process that it runs in: what `RuntimeIntegrity`'s monitor says, or the app's own checks.
///
///     configuration.watch(monitor)                    // in the adapters: the monitor's signals and its policy
///     configuration.surroundings = { Surroundings(refuses: isRunningInASandboxOfMine()) }
public struct Surroundings: Hashable, Sendable {
    /// Names of signals: they go into reports of failures (formats.md, section 5).
    public var signals: [String]

    /// Whether pinned connections are refused because of them, with the reason `tampering`.
    public var refuses: Bool

    /// States what was noticed.
    public init(signals: [String] = [], refuses: Bool = false) {
        self.signals = signals
        self.refuses = refuses
    }

    /// What two of them noticed: the signals of both, each once, and a refusal where either refuses.
    ///
    /// - Parameter other: The other one.
    public func joined(with other: Surroundings) -> Surroundings {
        Surroundings(
            signals: self.signals + other.signals.filter { !self.signals.contains($0) },
            refuses: self.refuses || other.refuses)
    }
}
