// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
@_spi(Adapters) internal import PinListClient
internal import PinListMetadata

/// A new root and a list under it, both as envelopes.
struct TrialList: Sendable {
    /// The defect of the list.
    enum Fault: Hashable, Sendable, CaseIterable {
        /// The signature of the P-256 key is another key's.
        case foreignP256
        /// The signature of the Ed25519 key is another key's.
        case foreignEd25519
        /// The payload is not the signed one.
        case changed
    }

    /// The age of the root in seconds.
    private static let rootAge: Int64 = 100 * 86_400

    /// The root: one key signs roots; of the two that sign lists, P-256 and Ed25519, both must.
    let root: [UInt8]

    /// The list.
    let list: [UInt8]

    /// The time when the list is offered.
    let time: Timestamp

    /// Creates both.
    ///
    /// - Returns: `nil` when they cannot be made.
    init?(at time: Timestamp, with fault: Fault?, _ randomness: any PinningRandomness) {
        let time = max(time, Timestamp(secondsSince1970: 365 * 86_400))
        let names = TrialNames(randomness)
        let issued = time.shifted(by: -3_600)
        guard let rootKey = TrialKey(.ecdsaP256SHA256, randomness), let first = TrialKey(.ecdsaP256SHA256, randomness),
            let second = TrialKey(.ed25519, randomness), let chain = TrialChain(at: time, randomness),
            let host = try? HostName(chain.host), let pin = try? Pin(publicKeyOf: chain.intermediate)
        else { return nil }
        let keys = [rootKey, first, second].compactMap { MetadataKey(subjectPublicKeyInfo: $0.subjectPublicKeyInfo) }
        guard keys.count == 3 else { return nil }
        let root = Root(
            name: names.app, version: 1, issuedAt: time.shifted(by: -Self.rootAge),
            expiresAt: time.shifted(by: Self.rootAge), keys: keys,
            root: Role(keyIDs: [keys[0].keyID], threshold: 1),
            pins: Role(keyIDs: [keys[1].keyID, keys[2].keyID], threshold: 2))
        let backup = Pin(kind: .publicKey, hashing: randomness.bytes(91))
        let entry = PinnedDomain(host, pins: [KnownPin(pin), KnownPin(backup)])
        let list = PinList(
            name: names.app, version: Int64(2 + randomness.bits() % 400), issuedAt: issued,
            expiresAt: time.shifted(by: Self.rootAge), domains: [PinList.Domain(entry)])
        let strangers = (
            fault == .foreignP256 ? TrialKey(.ecdsaP256SHA256, randomness) : first,
            fault == .foreignEd25519 ? TrialKey(.ed25519, randomness) : second
        )
        guard let firstSigner = strangers.0, let secondSigner = strangers.1,
            let signedRoot = Self.envelope(.root, root.payload, [(keys[0], rootKey)]),
            var signedList = Self.envelope(.pins, list.payload, [(keys[1], firstSigner), (keys[2], secondSigner)])
        else { return nil }
        if fault == .changed {
            var other = list
            other.version += 1
            signedList = Envelope(
                payloadType: signedList.payloadType, payload: other.payload, signatures: signedList.signatures)
        }
        self.root = signedRoot.bytes
        self.list = signedList.bytes
        self.time = time
    }

    private static func envelope(
        _ kind: MetadataRole, _ payload: [UInt8], _ signers: [(name: MetadataKey, key: TrialKey)]
    ) -> Envelope? {
        var envelope = Envelope(payloadType: Envelope.payloadType(of: kind), payload: payload)
        for signer in signers {
            guard let signature = signer.key.signature(over: envelope.signedBytes) else { return nil }
            envelope.signatures.append(Envelope.Signature(keyID: signer.name.keyID, bytes: signature))
        }
        return envelope
    }
}
