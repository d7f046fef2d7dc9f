// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PathValidation

/// One question: would an app with these pins accept this chain for this host at this time?
struct Evaluation: Sendable {
    /// The host as it was given.
    let host: String

    /// What the server presents, leaf first, in DER.
    let presented: [[UInt8]]

    /// What is expected of the host; without any, the chain alone decides.
    let pins: [KnownPin]

    /// Whether the certificate must be for the host.
    let checksName: Bool

    /// The time at which all of it is judged.
    let time: Timestamp

    /// Validates first and pins second.
    func decide(roots: RootStore) async -> PinningDecision {
        let policy: PinningPolicy
        let identity: ServerIdentity
        do throws(InputError) {
            // The policy of nothing says what is wrong with a host that is none.
            let name = try? HostName(self.host)
            policy = try PinningPolicy(domains: self.pins.isEmpty ? [] : name.map { [PinnedDomain($0, pins: self.pins)] } ?? [])
            guard let name else { return policy.refusal(of: self.host, .hostInvalid) }
            identity = self.checksName ? .host(name) : .uncheckedName
        } catch {
            // One entry cannot contradict another.
            preconditionFailure("\(error)")
        }
        let validator = PathValidator(roots: roots, monotonicNanoseconds: monotonicNanoseconds)
        switch await validator.validate(presented: self.presented, as: identity, at: self.time).result {
        case .success(let path): return policy.validate(path, for: self.host, at: self.time)
        case .failure(let refusal): return policy.refusal(of: self.host, refusal.reason, detail: refusal.detail)
        }
    }
}
