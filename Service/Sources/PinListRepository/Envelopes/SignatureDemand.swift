// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// The signatures that one root asks for: a threshold of the keys of a role.
public struct SignatureDemand: Hashable, Sendable {
    /// The version of the root that asks.
    public let rootVersion: Int64

    /// Which of its roles.
    public let kind: MetadataRefusal.Kind

    /// The keys that may sign.
    public let keys: [MetadataKey]

    /// How many of them must.
    public let threshold: Int

    /// The demand of a root on a kind of metadata.
    public init(_ kind: MetadataRefusal.Kind, of root: Root) {
        let role = kind == .root ? root.root : root.pins
        self.rootVersion = root.version
        self.kind = kind
        self.keys = root.keys(of: role)
        self.threshold = role.threshold
    }

    /// The keys of the role that signed an envelope, each once.
    public func signers(of envelope: Envelope) -> [MetadataKey] { envelope.signers(among: self.keys) }

    /// How many signatures an envelope still lacks.
    public func missing(in envelope: Envelope) -> Int { max(0, self.threshold - self.signers(of: envelope).count) }
}
