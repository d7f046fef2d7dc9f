// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
@_spi(Adapters) internal import PinListClient

/// A new chain of a server: leaf, intermediate, anchor.
struct TrialChain: Sendable {
    /// The server's name.
    let host: String
    /// The time around which all of it is valid.
    let time: Timestamp
    /// The server's certificate, in DER.
    let leaf: [UInt8]
    /// The intermediate that signed it, in DER.
    let intermediate: [UInt8]
    /// The anchor, in DER: only a trial trusts it.
    let anchor: [UInt8]

    /// The path as it would be validated.
    var path: ValidatedPath {
        ValidatedPath(uncheckedValidatedPath: [self.leaf, self.intermediate, self.anchor])
    }

    /// The chain as a server would present it.
    var presented: [[UInt8]] { [self.leaf, self.intermediate] }

    /// Makes a chain of new keys.
    ///
    /// - Parameters:
    ///   - time: Around which it is valid. The first year after 1970 counts as its end.
    ///   - host: The server's name; by default a made-up one.
    ///   - logs: The logs whose timestamps the leaf has; `nil` for none.
    ///   - randomness: For keys, names and serial numbers.
    /// - Returns: `nil` when it cannot be made.
    init?(at time: Timestamp, host: String? = nil, loggedBy logs: TrialLogs? = nil, _ randomness: any PinningRandomness)
    {
        let time = Self.time(time)
        let names = TrialNames(randomness)
        let authority = TrialNames(randomness).company
        let host = host ?? names.host
        guard
            let anchor = TrialCertificate(
                .authority, ("\(authority) Trust", "\(authority) Root CA"), at: time, randomness),
            let intermediate = TrialCertificate(
                .authority, ("\(authority) Trust", "\(authority) TLS Issuing CA"), by: anchor, at: time, randomness),
            let leaf = TrialCertificate(
                .server(host), (names.company, host), by: intermediate, loggedBy: logs, at: time, randomness)
        else { return nil }
        self.host = host
        self.time = time
        self.leaf = leaf.der
        self.intermediate = intermediate.der
        self.anchor = anchor.der
    }

    /// The time around which a chain is valid: that of the clock, but for the first year after 1970.
    static func time(_ clock: Timestamp) -> Timestamp { max(clock, Timestamp(secondsSince1970: 365 * 86_400)) }

    /// The leaf as a revoked certificate of the intermediate.
    var revokedLeaf: RevokedCertificates? {
        guard let fields = try? CertificateFields(walking: self.leaf),
            let serial = SerialNumber(contents: self.leaf[fields.serialNumber]),
            let issuer = try? Pin(publicKeyOf: self.intermediate)
        else { return nil }
        return RevokedCertificates(issuer: issuer, serials: [serial])
    }

    /// Rules that pin a certificate's key for the chain's host, and a second key that does not exist.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - revoked: Revoked certificates.
    ///   - randomness: For the second key.
    func policy(
        pinning certificate: [UInt8], revoking revoked: [RevokedCertificates] = [], _ randomness: any PinningRandomness
    ) -> PinningPolicy? {
        guard let host = try? HostName(self.host), let pin = try? Pin(publicKeyOf: certificate) else { return nil }
        let backup = Pin(kind: .publicKey, hashing: randomness.bytes(91))
        return try? PinningPolicy(
            domains: [PinnedDomain(host, pins: [KnownPin(pin), KnownPin(backup)])], revoked: revoked)
    }
}
