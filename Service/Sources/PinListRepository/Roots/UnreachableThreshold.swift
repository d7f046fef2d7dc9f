// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// A threshold of a root that clients cannot reach which verify some algorithms alone: they stop at the root before it
/// for ever. (Hybrid demands cut nobody off: who cannot verify them does not make them.)
///
/// Source: formats.md, section 9, `verifiable`.
public struct UnreachableThreshold: Hashable, Sendable, CustomStringConvertible {
    /// The role.
    public let kind: MetadataRefusal.Kind
    /// How many keys of the role these clients can verify.
    public let verifiable: Int
    /// How many of them must sign.
    public let threshold: Int

    /// What cannot be reached, in a few words.
    public var description: String {
        "the role \(self.kind.rawValue) asks for \(self.threshold) and has \(self.verifiable) that they can verify"
    }
}

extension Root {
    /// The thresholds that signatures of some algorithms cannot reach.
    public func unreachableThresholds(verifying algorithms: Set<MetadataKey.Algorithm>) -> [UnreachableThreshold] {
        [(MetadataRefusal.Kind.root, self.root), (.pins, self.pins)].compactMap { kind, role in
            let count = self.keys(of: role).count { algorithms.contains($0.algorithm) }
            guard count < role.threshold else { return nil }
            return UnreachableThreshold(kind: kind, verifiable: count, threshold: role.threshold)
        }
    }
}
