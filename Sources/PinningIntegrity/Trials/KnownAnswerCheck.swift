// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
@_spi(Adapters) internal import PinListClient
internal import PinListMetadata

/// The known answers of the functions that decide on every platform; ``PathTrials`` and ``TrustTrials`` add those of an
/// adapter.
struct KnownAnswerCheck: Sendable {
    private let functions: DecidingFunctions
    private let clock: any PinningClock
    private let randomness: any PinningRandomness

    /// Prepares trials.
    ///
    /// - Parameters:
    ///   - functions: The functions that are tried: those that decide, but in tests.
    ///   - clock: The clock by which inputs are valid.
    ///   - randomness: The source of random inputs.
    init(
        _ functions: DecidingFunctions = DecidingFunctions(), clock: any PinningClock = SystemClock(),
        randomness: any PinningRandomness = SystemRandomness()
    ) {
        self.functions = functions
        self.clock = clock
        self.randomness = randomness
    }

    /// Random bytes as long as a P-256 SubjectPublicKeyInfo, for a hash.
    var unseen: [UInt8] { self.randomness.bytes(91) }

    /// The SHA-256 that pins are made with.
    var digest: @Sendable ([UInt8]) -> [UInt8] { self.functions.digest }

    /// A chain of new keys.
    func chain(for host: String? = nil) -> TrialChain? {
        TrialChain(at: self.clock.now, host: host, self.randomness)
    }

    /// Rules that pin the key of the chain's intermediate, which its path satisfies.
    func policy(for chain: TrialChain) -> PinningPolicy? {
        chain.policy(pinning: chain.intermediate, self.randomness)
    }

    /// A clock that stands at the time of a chain.
    static func clock(of chain: TrialChain) -> any PinningClock { StoppedClock(now: chain.time) }

    /// All known answers: of the verdict, of the signatures of lists, of Certificate Transparency, of pins.
    var all: [KnownAnswer] { self.verdicts + self.lists + self.logged + self.pins }

    private var verdicts: [KnownAnswer] {
        // The leaf's key, or an authority's: lists have both.
        let good = [true, false].map { isLeaf in
            KnownAnswer("verdict", isGood: true) {
                guard let chain = self.chain(),
                    let policy = chain.policy(pinning: isLeaf ? chain.leaf : chain.intermediate, self.randomness)
                else { return nil }
                return self.functions.verdict(policy, chain.path, chain.host, chain.time)
            }
        }
        // An intercepting proxy: a path for the right host without any of the keys.
        let bad = KnownAnswer("verdict", isGood: false) {
            guard let chain = self.chain(), let other = self.chain(for: chain.host),
                let policy = self.policy(for: chain)
            else { return nil }
            return self.functions.verdict(policy, other.path, chain.host, chain.time)
        }
        // A pinned path whose leaf the list takes back.
        let revoked = KnownAnswer("verdict", isGood: false) {
            guard let chain = self.chain(), let revoked = chain.revokedLeaf,
                let policy = chain.policy(pinning: chain.intermediate, revoking: [revoked], self.randomness)
            else { return nil }
            return self.functions.verdict(policy, chain.path, chain.host, chain.time)
        }
        return good + [bad, revoked]
    }

    private var logged: [KnownAnswer] {
        let good = KnownAnswer("transparency", isGood: true) {
            guard let logs = self.newLogs else { return nil }
            return self.isLogged(by: logs, signedBy: logs)
        }
        // The timestamps are left out, or are of logs that are not in the list.
        let unlogged = KnownAnswer("transparency", isGood: false) { self.isLogged(by: self.newLogs, signedBy: nil) }
        let strange = KnownAnswer("transparency", isGood: false) {
            guard let others = self.newLogs else { return nil }
            return self.isLogged(by: self.newLogs, signedBy: others)
        }
        return [good, unlogged, strange]
    }

    private var newLogs: TrialLogs? { TrialLogs(at: TrialChain.time(self.clock.now), self.randomness) }

    private func isLogged(by logs: TrialLogs?, signedBy signers: TrialLogs?) -> Bool? {
        guard let logs, let chain = TrialChain(at: self.clock.now, loggedBy: signers, self.randomness) else {
            return nil
        }
        return self.functions.isLogged(logs.file, chain.path, chain.time)
    }

    private var lists: [KnownAnswer] {
        let good = KnownAnswer("list-signature", isGood: true) { self.trial(of: nil) }
        return [good]
            + TrialList.Fault.allCases.map { fault in
                KnownAnswer("list-signature", isGood: false) { self.trial(of: fault) }
            }
    }

    private func trial(of fault: TrialList.Fault?) -> Bool? {
        guard let trial = TrialList(at: self.clock.now, with: fault, self.randomness) else { return nil }
        return self.functions.acceptsList(trial.root, trial.list, trial.time)
    }

    private var pins: [KnownAnswer] {
        // The digest is that of the key and of nothing else; two keys have two.
        let good = KnownAnswer("hash", isGood: true) {
            guard let chain = self.chain() else { return nil }
            let pin = self.functions.pin(chain.leaf)
            return pin != nil && self.functions.pin(chain.leaf) == pin
        }
        let bad = KnownAnswer("hash", isGood: false) {
            guard let chain = self.chain() else { return nil }
            return self.functions.pin(chain.leaf) == self.functions.pin(chain.anchor)
        }
        return [good, bad]
    }
}

/// A clock of a trial: it stands still, and no wait uses it.
private struct StoppedClock: PinningClock {
    let now: Timestamp

    func sleep(seconds: Double) async throws {}
}

/// A known answer: an input of a function that decides, and the answer that it must get. A canary tries it.
///
/// Inputs are made anew each time, look like those of any app, and reach the functions themselves, not the client's
/// state: no event, report, count or cache follows.
struct KnownAnswer: Sendable {
    /// The function: `verdict`, `list-signature`, `transparency`, `hash`, or an adapter's `path` and `connection`.
    let function: String

    /// Whether the input has to be accepted; else it has to be refused.
    let isGood: Bool

    /// Gives an input to the function, and returns whether it was accepted. An input that cannot be made counts as the
    /// right answer: a lack of random numbers or of memory is no attack.
    let isAccepted: @Sendable () async -> Bool

    /// Creates a known answer.
    ///
    /// - Parameters:
    ///   - function: The function.
    ///   - isGood: Whether the input has to be accepted.
    ///   - isAccepted: Gives the input to the function; `nil` when the input could not be made.
    init(_ function: String, isGood: Bool, _ isAccepted: @escaping @Sendable () async -> Bool?) {
        self.function = function
        self.isGood = isGood
        self.isAccepted = { await isAccepted() ?? isGood }
    }
}

/// The functions that decide, as a canary calls them: those that the client itself calls, or a test's stand-ins.
struct DecidingFunctions: Sendable {
    /// Whether a validated path is allowed for a host: `PinningPolicy.validate`.
    var verdict: @Sendable (PinningPolicy, ValidatedPath, String, Timestamp) -> Bool

    /// Whether a list from outside is trusted under a root, both as envelopes: `TrustState.accept`.
    var acceptsList: @Sendable (_ root: [UInt8], _ list: [UInt8], Timestamp) -> Bool

    /// Whether a path satisfies a policy of Certificate Transparency by a log list: `TransparencyEvidence`, and its
    /// evaluation.
    var isLogged: @Sendable (_ logs: [UInt8], ValidatedPath, Timestamp) -> Bool

    /// The pin of a certificate's public key: `Pin(publicKeyOf:)`.
    var pin: @Sendable ([UInt8]) -> Pin?

    /// The SHA-256 that pins are made with.
    var digest: @Sendable ([UInt8]) -> [UInt8]

    /// The functions that decide.
    init() {
        self.verdict = { policy, path, host, time in policy.validate(path, for: host, at: time).verdict == .allow }
        self.acceptsList = { root, list, time in
            guard var trust = try? TrustState(bundledRoot: root, bundledList: nil) else { return false }
            return (try? trust.accept(list: list, at: time)) == .newer
        }
        self.isLogged = { logs, path, time in
            guard let logs = try? LogList(logs) else { return false }
            return TransparencyEvidence(of: path, logs: logs).evaluation(
                under: TransparencyPolicy(.chrome), at: time
            ).isSatisfied
        }
        self.pin = { try? Pin(publicKeyOf: $0) }
        self.digest = { Pin(kind: .publicKey, hashing: $0).digest }
    }
}
