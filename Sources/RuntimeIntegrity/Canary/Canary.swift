// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A canary: gives inputs with known answers to the functions that decide.
///
/// An accepted bad input shows tampering by any tool. It finds careless hooks only: a hook that accepts
/// nothing but the attacker's own certificate is not noticed.
public struct Canary: Sendable {
    /// The checked functions.
    public let checks: [CanaryCheck]

    /// Creates a canary.
    public init(_ checks: [CanaryCheck]) { self.checks = checks }

    /// Creates a canary of trials, a check for each function that they name.
    public init(of trials: [(function: String, trial: CanaryTrial)]) {
        var checks: [String: [CanaryTrial]] = [:]
        for (function, trial) in trials { checks[function, default: []].append(trial) }
        self.checks = checks.sorted { $0.key < $1.key }.map { CanaryCheck($0.key, $0.value) }
    }

    /// Tries each input once, in random order, so that an observer of calls does not learn which one is the trial.
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

/// A function that decides, with inputs whose answers are known.
///
/// The closures call the very functions that decide about connections, with hosts and keys that look like any other,
/// and leave nothing behind: no event, no report, no entry in a cache. `PinningIntegrity` makes them.
public struct CanaryCheck: Sendable {
    /// The checked function: `verdict`, `path`, `list-signature`, `transparency`, `hash`.
    public let name: String

    /// The inputs.
    public let trials: [CanaryTrial]

    /// Creates a check.
    public init(_ name: String, _ trials: [CanaryTrial]) {
        self.name = name
        self.trials = trials
    }

    /// Checks a SHA-256 with the examples of FIPS 180-4 (NIST, "SHA256.pdf").
    ///
    /// - Parameters:
    ///   - other: A message that was never hashed before: its digest has to be none of the known ones.
    ///   - digest: The function that hashes keys.
    public static func sha256(
        other: @escaping @Sendable () -> [UInt8], _ digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Self {
        var trials = Self.examples.map { message, expected in CanaryTrial.good { digest(message) == expected } }
        trials.append(
            .bad {
                let digest = digest(other())
                return digest.count != 32 || Self.examples.contains { $0.1 == digest }
            })
        return Self("hash", trials)
    }

    /// Messages and their digests.
    static let examples: [([UInt8], [UInt8])] = [
        (
            Array("abc".utf8),
            [
                0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA, 0x41, 0x41, 0x40, 0xDE, 0x5D, 0xAE, 0x22, 0x23,
                0xB0, 0x03, 0x61, 0xA3, 0x96, 0x17, 0x7A, 0x9C, 0xB4, 0x10, 0xFF, 0x61, 0xF2, 0x00, 0x15, 0xAD,
            ]
        ),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            [
                0x24, 0x8D, 0x6A, 0x61, 0xD2, 0x06, 0x38, 0xB8, 0xE5, 0xC0, 0x26, 0x93, 0x0C, 0x3E, 0x60, 0x39,
                0xA3, 0x3C, 0xE4, 0x59, 0x64, 0xFF, 0x21, 0x67, 0xF6, 0xEC, 0xED, 0xD4, 0x19, 0xDB, 0x06, 0xC1,
            ]
        ),
    ]
}

/// One input with a known answer.
public struct CanaryTrial: Sendable {
    /// Whether it has to be refused.
    public let isBad: Bool

    /// Gives the input to the function that decides, and returns whether it was accepted.
    public let isAccepted: @Sendable () async -> Bool

    /// The inputs that must be refused.
    public static func bad(_ isAccepted: @escaping @Sendable () async -> Bool) -> Self {
        Self(isBad: true, isAccepted: isAccepted)
    }

    /// The inputs that must be accepted: a function that refuses every input does not decide.
    public static func good(_ isAccepted: @escaping @Sendable () async -> Bool) -> Self {
        Self(isBad: false, isAccepted: isAccepted)
    }
}
