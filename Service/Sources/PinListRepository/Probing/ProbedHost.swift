// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The result of a probe of one host.
public struct ProbedHost: Hashable, Sendable, Encodable {
    /// The state of a host.
    public enum State: Hashable, Sendable {
        /// Every client gets in, with any list that it may hold, and no certificate ends soon.
        case well
        /// Some clients are locked out.
        case locksOut
        /// Every client gets in, and a certificate of the path ends soon.
        case endsSoon
        /// No installation is refused, and a certificate of the path is revoked by its issuer.
        case revoked
        /// The host could not be asked.
        case unknown
    }

    /// The state of the host.
    public internal(set) var state: State
    /// The host.
    public let host: HostName
    /// The entry that applied, with every installation in its rollout.
    public let entry: PinnedDomain?
    /// The decision of an app that enforces; `nil` when the host could not be asked.
    public let decision: PinningDecision?
    /// The lists that installations may still hold and that refuse what is served; `nil` when none does.
    public let refusal: HeldRefusal?
    /// The validated path, leaf first; empty without one.
    public let path: [ProbedCertificate]
    /// The whole days until the first certificate of the path ends; `nil` without a path.
    public let daysLeft: Int?
    /// Whether the leaf's issuer is another one than last time; `nil` when that is not known.
    public let issuerChanged: Bool?
    /// The reason for which the host could not be asked, or its chain does not validate.
    public let error: String?
    /// Notes for people beside that, each one line.
    public internal(set) var notes: [String]
    /// The results at each of its addresses; empty when none is known.
    public internal(set) var addresses: [ProbedAddress] = []
    /// The result under each policy of Certificate Transparency; empty where nothing was evaluated.
    public internal(set) var transparency: [TransparencyEvaluation] = []

    /// The certificates that are served and that their issuers revoked, as far as revocation lists say.
    public internal(set) var revoked: [ProbedRevocation] = []

    /// The written form of an evaluation: the timestamps are for `tumbler ct`.
    private struct PrintedEvaluation: Encodable {
        let policy: String
        let satisfied: Bool
        let detail: String
    }

    enum CodingKeys: CodingKey {
        case host, notedHostname, mode, ok, verdict, reason, matched, refusedBy, refusing, path, daysLeft
        case issuerChanged, error, notes, addresses, transparency, revoked
    }

    /// Writes all members, so that every host has the same; `null` stands where there is nothing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.host.description, forKey: .host)
        try container.encode(self.entry?.domain.description, forKey: .notedHostname)
        try container.encode(self.entry?.mode.rawValue, forKey: .mode)
        try container.encode(self.state == .well, forKey: .ok)
        try container.encode(self.decision?.verdict, forKey: .verdict)
        try container.encode(self.decision?.reason.description, forKey: .reason)
        try container.encode(self.decision?.matched, forKey: .matched)
        try container.encode(self.refusal?.versions ?? [], forKey: .refusedBy)
        try container.encode(self.refusal?.share, forKey: .refusing)
        try container.encode(self.path, forKey: .path)
        try container.encode(self.daysLeft, forKey: .daysLeft)
        try container.encode(self.issuerChanged, forKey: .issuerChanged)
        try container.encode(self.error, forKey: .error)
        try container.encode(self.notes, forKey: .notes)
        try container.encode(self.addresses, forKey: .addresses)
        try container.encode(
            self.transparency.map {
                PrintedEvaluation(policy: $0.policy, satisfied: $0.isSatisfied, detail: $0.detail)
            }, forKey: .transparency)
        try container.encode(self.revoked, forKey: .revoked)
    }
}
