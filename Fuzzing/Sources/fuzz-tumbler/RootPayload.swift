// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata

/// The payload of a root, as if it had been signed.
enum RootPayload: FuzzTarget {
    static let name = "root-payload"

    static var seeds: [[UInt8]] { EnvelopeBytes.repository.map { [$0.root.payload] } ?? [] }

    static func check(_ bytes: [UInt8]) {
        guard let root = try? Root(payload: bytes) else { return }
        precondition((1...MetadataLimits.version).contains(root.version))
        precondition(root.expiresAt > root.issuedAt)
        precondition((1...MetadataLimits.keys).contains(root.keys.count))
        for role in [root.root, root.pins] {
            precondition(Set(role.keyIDs).count == role.keyIDs.count)
            precondition((1...role.keyIDs.count).contains(role.threshold))
            precondition(root.keys(of: role).count == role.keyIDs.count)
        }
        for (keyID, key) in root.keys { precondition(key.keyID == keyID) }
        // What is written of it is read as the same, and is written as the same again.
        let written = root.payload
        guard let again = try? Root(payload: written) else { preconditionFailure("a root is written that is none") }
        precondition(again.payload == written && again.unknownMembers.isEmpty)
        precondition(again.keys == root.keys && again.root == root.root && again.pins == root.pins)
    }
}
