// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting

/// The payload of a root, as if it had been signed.
enum RootPayload: FuzzTarget {
    static let name = "root-payload"

    /// A plain root, and one with a key of an algorithm to come and hybrid demands.
    static var seeds: [[UInt8]] {
        guard var repository = EnvelopeBytes.repository else { return [] }
        let plain = repository.root.payload
        let later = MetadataKey.Algorithm(rawValue: "x")
        repository.pinsKeys.append(repository.newKey(later))
        repository.pinsHybrid = ([repository.newKey(.mlDSA65)], 1)
        repository.rootHybrid = ([repository.newKey(.ed25519), repository.newKey(later)], 2)
        return [plain, repository.nextRoot().payload]
    }

    static func check(_ bytes: [UInt8]) {
        guard let root = try? Root(payload: bytes) else { return }
        precondition((1...MetadataLimits.version).contains(root.version))
        precondition(root.expiresAt > root.issuedAt)
        precondition((1...MetadataLimits.keys).contains(root.keys.count))
        for role in [root.root, root.pins] {
            precondition(Set(role.keyIDs).count == role.keyIDs.count)
            precondition((1...role.keyIDs.count).contains(role.threshold))
            precondition(root.keys(of: role).count == role.keyIDs.count)
            guard let hybrid = role.hybrid else { continue }
            precondition(Set(hybrid.keyIDs + role.keyIDs).count == hybrid.keyIDs.count + role.keyIDs.count)
            precondition((1...hybrid.keyIDs.count).contains(hybrid.threshold))
            precondition(root.keys(of: hybrid).count == hybrid.keyIDs.count)
        }
        for (keyID, key) in root.keys { precondition(key.keyID == keyID) }
        // The written form is read as the same, and is written as the same again.
        let written = root.payload
        guard let again = try? Root(payload: written) else { preconditionFailure("a root is written that is none") }
        precondition(again.payload == written && again.unknownMembers.isEmpty)
        precondition(again.keys == root.keys && again.root == root.root && again.pins == root.pins)
    }
}
