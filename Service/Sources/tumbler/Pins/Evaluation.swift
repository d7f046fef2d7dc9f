// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PathValidation

/// One question: whether an app with these pins would accept this chain for this host at this time.
struct Evaluation: Sendable {
    /// The host as it was given.
    let host: String

    /// The chain that the server presents, leaf first, in DER.
    let presented: [[UInt8]]

    /// The rules for the host.
    let rules: Rules

    /// Whether the certificate must be for the host.
    let checksName: Bool

    /// The logs that policies of Certificate Transparency are evaluated with, and the one that is asked beside the pins; `nil`
    /// where nothing is evaluated.
    let transparency: TransparencyDemand?

    /// The revocation lists that a path must pass; `nil` for none.
    let revocation: RevocationCheck?

    /// The time at which all of it is evaluated.
    let time: Timestamp

    /// The source of the rules.
    enum Rules: Sendable {
        /// Pins of this host; without any, the chain alone decides.
        case pins([KnownPin])
        /// A signed list.
        case list(SignedList)
    }

    /// Validates first, pins second, and asks the policy of Certificate Transparency third.
    ///
    /// - Throws: ``InputError/Code/policy`` when the pins contradict each other, or the list names another log list.
    func decide(roots: RootStore) async throws(InputError) -> PinningDecision {
        let name = try? HostName(self.host)
        let policy: PinningPolicy
        var time = self.time
        switch self.rules {
        case .pins(let pins):
            let entry = pins.isEmpty ? nil : name.map { PinnedDomain($0, pins: pins) }
            policy = try PinningPolicy(domains: entry.map { [$0] } ?? [])
        case .list(let list):
            try self.transparency?.expect(list.logs)
            policy = list.policy(at: self.time)
            time = list.referenceTime(self.time)
        }
        // The refusal of a host that is none says what is wrong with it.
        guard let name else { return policy.refusal(of: self.host, .hostInvalid) }
        let identity: ServerIdentity = self.checksName ? .host(name) : .uncheckedName
        let validator = PathValidator(
            roots: roots, revocation: self.revocation, monotonicNanoseconds: monotonicNanoseconds)
        switch await validator.validate(presented: self.presented, as: identity, at: self.time).result {
        case .success(let path):
            let decision = policy.validate(path, for: self.host, at: time)
            return self.transparency?.evaluated(decision, at: time) ?? decision
        case .failure(let refusal): return policy.refusal(of: self.host, refusal.reason, detail: refusal.detail)
        }
    }
}
