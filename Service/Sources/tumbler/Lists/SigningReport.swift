// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListMetadata
import PinListRepository

/// The result of signing.
struct SigningReport: Encodable {
    /// A signature that was added.
    struct Addition: Encodable {
        let signer: String
        let keyid: String
        let replaced: Bool
    }

    /// The demand of one root, and the signatures that it has.
    struct Demand: Encodable {
        let root: Int64
        /// Whether it is the hybrid demand of the role.
        let hybrid: Bool
        let threshold: Int
        let signers: [String]
        let missing: Int
    }

    let type: String
    let name: String
    let version: Int64
    let payloadSHA256: String
    let added: [Addition]
    let demands: [Demand]
    /// The previous root, whose signatures were not counted because it was not given.
    let uncountedRoot: Int64?
    let missing: Int
    let complete: Bool

    /// Describes a ceremony.
    init(_ ceremony: SigningCeremony) {
        self.type = ceremony.metadata.kind.rawValue
        self.name = ceremony.metadata.name
        self.version = ceremony.metadata.version
        self.payloadSHA256 = ceremony.metadata.payloadDigest
        self.added = ceremony.additions.map {
            Addition(signer: $0.signer, keyid: $0.keyID, replaced: $0.isReplacement)
        }
        self.demands = ceremony.demands.map { demand in
            Demand(
                root: demand.rootVersion, hybrid: demand.isHybrid, threshold: demand.threshold,
                signers: demand.signers(of: ceremony.envelope).map(\.keyID),
                missing: demand.missing(in: ceremony.envelope))
        }
        self.uncountedRoot = ceremony.unknownRoot
        self.missing = ceremony.missing
        self.complete = ceremony.isComplete
    }

    /// The lines for people.
    var lines: [String] {
        var lines = self.added.map {
            "signed by \($0.keyid) (\($0.signer))\($0.replaced ? ", in place of its last" : "")"
        }
        lines += self.demands.map { demand in
            let name = demand.hybrid ? "root \(demand.root), hybrid" : "root \(demand.root)"
            let count = "\(name): \(demand.signers.count) of \(demand.threshold) signatures"
            return demand.missing > 0 ? "\(count), \(demand.missing) still missing" : "\(count), threshold met"
        }
        if let root = self.uncountedRoot {
            lines.append("root \(root): not given, so it is unknown whether its signatures are still missing")
        }
        return lines
    }
}
