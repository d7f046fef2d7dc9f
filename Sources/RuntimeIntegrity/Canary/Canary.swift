// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Puts what is known to be bad through the functions that decide.
///
/// If it is accepted, something is wrong, whatever tool did it. It finds careless hooks only: one that lets through
/// nothing but the attacker's own certificate is not noticed.
public struct Canary: Sendable {
    /// The functions.
    public let checks: [CanaryCheck]

    /// Creates a canary.
    public init(_ checks: [CanaryCheck]) { self.checks = checks }

    /// Creates a canary of trials, a check for each function that they name.
    public init(of trials: [(function: String, trial: CanaryTrial)]) {
        var checks: [String: [CanaryTrial]] = [:]
        for (function, trial) in trials { checks[function, default: []].append(trial) }
        self.checks = checks.sorted { $0.key < $1.key }.map { CanaryCheck($0.key, $0.value) }
    }

    /// Tries everything once, in random order: who watches calls does not learn which one is the trial.
    ///
    /// - Returns: At most two signals for each function.
    public func sing(_ randomness: inout some RandomNumberGenerator) async -> [TamperSignal] {
        let trials = self.checks.indices.flatMap { check in
            self.checks[check].trials.map { (check: check, trial: $0) }
        }
        var accepted: Set<Int> = []
        var refused: Set<Int> = []
        for (check, trial) in trials.shuffled(using: &randomness) {
            let isAccepted = await trial.isAccepted()
            if trial.isBad && isAccepted { accepted.insert(check) }
            if !trial.isBad && !isAccepted { refused.insert(check) }
        }
        return self.checks.indices.flatMap { index -> [TamperSignal] in
            let name = self.checks[index].name
            var signals: [TamperSignal] = []
            if accepted.contains(index) {
                signals.append(.init(.canaryAccepted, .high, "\(name): what has to be refused was accepted"))
            }
            if refused.contains(index) {
                signals.append(.init(.canaryRefused, .medium, "\(name): what has to be accepted was refused"))
            }
            return signals
        }
    }
}
