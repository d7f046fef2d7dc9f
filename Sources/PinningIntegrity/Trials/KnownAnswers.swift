// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
@_spi(Adapters) internal import PinListClient

/// The known answers of the functions that decide on every platform; adapters add those of their own.
struct KnownAnswers: Sendable {
    private let functions: DecidingFunctions
    private let clock: any PinningClock
    private let randomness: any PinningRandomness

    /// Prepares trials.
    ///
    /// - Parameters:
    ///   - functions: What is tried; what decides, but in tests.
    ///   - clock: What inputs are valid at.
    ///   - randomness: What inputs are made of.
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

    /// A chain of new keys, for trials of adapters.
    func chain(for host: String? = nil) -> TrialChain? {
        TrialChain(at: self.clock.now, host: host, self.randomness)
    }

    /// Rules that pin the key of the chain's intermediate, which its path satisfies.
    func policy(for chain: TrialChain) -> PinningPolicy? {
        chain.policy(pinning: chain.intermediate, self.randomness)
    }

    /// A clock that stands at the time of a chain.
    static func clock(of chain: TrialChain) -> any PinningClock { StoppedClock(now: chain.time) }

    /// All of them: of the verdict, of the signatures of lists, of pins.
    var all: [KnownAnswer] { self.verdicts + self.lists + self.pins }

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
        // An intercepting proxy: a path for the right host that holds none of the keys.
        let bad = KnownAnswer("verdict", isGood: false) {
            guard let chain = self.chain(), let other = self.chain(for: chain.host),
                let policy = self.policy(for: chain)
            else { return nil }
            return self.functions.verdict(policy, other.path, chain.host, chain.time)
        }
        return good + [bad]
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

/// A clock of a trial: it stands, and nobody waits by it.
private struct StoppedClock: PinningClock {
    let now: Timestamp

    func sleep(seconds: Double) async throws {}
}
