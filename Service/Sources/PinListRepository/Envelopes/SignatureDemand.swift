// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// The signatures that one root asks for: a threshold of the keys of a role, or of its hybrid demand.
public struct SignatureDemand: Hashable, Sendable {
    /// The version of the root that asks.
    public let rootVersion: Int64

    /// The role of the keys.
    public let kind: MetadataRole

    /// Whether it is the role's hybrid demand, which only clients make that can verify all of its keys.
    public let isHybrid: Bool

    /// The keys that may sign.
    public let keys: [MetadataKey]

    /// The number of them that must sign.
    public let threshold: Int

    /// The demands of a root on a kind of metadata: the role's own demand, then its hybrid one, if it has one.
    public static func all(_ kind: MetadataRole, of root: Root) -> [SignatureDemand] {
        let role = kind == .root ? root.root : root.pins
        let own = SignatureDemand(kind, of: root, role.first, isHybrid: false)
        return [own] + (role.hybrid.map { [SignatureDemand(kind, of: root, $0, isHybrid: true)] } ?? [])
    }

    private init(_ kind: MetadataRole, of root: Root, _ demand: Role.Demand, isHybrid: Bool) {
        self.rootVersion = root.version
        self.kind = kind
        self.isHybrid = isHybrid
        self.keys = root.keys(of: demand)
        self.threshold = demand.threshold
    }

    /// Whether clients make this demand whose system can verify what this one can: the role's own always, a hybrid one
    /// where every key of it can be verified here.
    public var isMadeHere: Bool { !self.isHybrid || self.keys.allSatisfy(\.isVerifiable) }

    /// The keys of the demand that signed an envelope, each once.
    public func signers(of envelope: Envelope) -> [MetadataKey] { envelope.signers(among: self.keys) }

    /// The number of signatures that an envelope still lacks.
    public func missing(in envelope: Envelope) -> Int { max(0, self.threshold - self.signers(of: envelope).count) }
}
