// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// The pins of a command line as a signed list, so that the very same client evaluates by them: made in memory, signed by
/// a key that is not kept. Hosts that it does not name are refused, so that a redirect leads to no host without pins.
struct EphemeralList {
    /// The name of the list in decisions.
    static let name = "command-line"
    private static let seconds: Int64 = 86_400

    /// The envelope of its root.
    let root: [UInt8]
    /// The envelope of the list.
    let list: [UInt8]

    /// Makes and signs it.
    ///
    /// - Parameters:
    ///   - host: The only host of the list.
    ///   - pins: The pins of the host, at most ``PinListMetadata/MetadataLimits/pins``.
    ///   - time: The time of issue.
    /// - Throws: ``CommandError`` where no key can be made.
    init(pinning host: HostName, to pins: [Pin], at time: Timestamp) throws(CommandError) {
        let key = try CommandError.wrapping { () throws(RepositoryError) in try PrivateKey(new: .p256) }
        guard let publicKey = MetadataKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) else {
            throw CommandError(.undecided, "no key can be made here that signs a list")
        }
        let role = Role(keyIDs: [publicKey.keyID], threshold: 1)
        let end = Timestamp(secondsSince1970: time.secondsSince1970 + Self.seconds)
        let root = Root(
            name: Self.name, version: 1, issuedAt: time, expiresAt: end, keys: [publicKey], root: role, pins: role)
        let list = PinList(
            name: Self.name, version: 1, issuedAt: time, expiresAt: end,
            domains: [PinList.Domain(PinnedDomain(host, pins: pins.map { KnownPin($0) }))], unlisted: .deny)
        self.root = try Self.signed(.root, root.payload, by: key, publicKey.keyID)
        self.list = try Self.signed(.pins, list.payload, by: key, publicKey.keyID)
    }

    private static func signed(
        _ kind: MetadataRole, _ payload: [UInt8], by key: PrivateKey, _ keyID: String
    ) throws(CommandError) -> [UInt8] {
        var envelope = Envelope(payloadType: Envelope.payloadType(of: kind), payload: payload)
        let message = envelope.signedBytes
        let signature = try CommandError.wrapping { () throws(RepositoryError) in try key.signature(over: message) }
        envelope.signatures = [Envelope.Signature(keyID: keyID, bytes: signature)]
        return envelope.bytes
    }
}
