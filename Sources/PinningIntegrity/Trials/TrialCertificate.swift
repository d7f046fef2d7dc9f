// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
@_spi(Adapters) internal import PinListClient
internal import PinListMetadata

/// A certificate of a trial, as an authority of the public web would issue it, for a new key.
struct TrialCertificate: Sendable {
    /// The purpose of the certificate.
    enum Place: Hashable, Sendable {
        /// An anchor, or an authority below one.
        case authority
        /// A server with a name.
        case server(String)
    }

    /// The validity before and after a time, in seconds: at most 398 days in all, which no platform refuses.
    static let before: Int64 = 20 * 86_400
    private static let after: Int64 = 70 * 86_400

    /// The certificate in DER.
    let der: [UInt8]

    private let key: TrialKey
    private let name: [UInt8]
    private var keyIdentifier: [UInt8] { Self.keyIdentifier(self.key) }

    /// Makes a certificate that is valid around a time.
    ///
    /// - Parameters:
    ///   - place: The purpose.
    ///   - names: Made-up names of the company and the subject.
    ///   - issuer: The issuer; by default the certificate itself.
    ///   - logs: The logs whose timestamps it has; `nil` for none.
    ///   - time: The time in the middle of its validity.
    ///   - randomness: For the key and the serial number.
    init?(
        _ place: Place, _ names: (company: String, own: String), by issuer: TrialCertificate? = nil,
        loggedBy logs: TrialLogs? = nil, at time: Timestamp, _ randomness: any PinningRandomness
    ) {
        guard let key = TrialKey(.ecdsaP256SHA256, randomness) else { return nil }
        let name = Self.name(names.company, names.own)
        let algorithm = DERWriter.sequence(
            DERWriter.identifier(0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02))
        let serial = DERWriter.positive([0x4A] + randomness.bytes(15))
        let extensions = Self.extensions(place, key, issuer?.keyIdentifier)
        func written(_ extensions: [UInt8]) -> [UInt8] {
            DERWriter.sequence(
                DERWriter.value(0xA0, DERWriter.positive([2])), serial, algorithm, issuer?.name ?? name,
                DERWriter.sequence(
                    DERWriter.time(time.shifted(by: -Self.before)),
                    DERWriter.time(time.shifted(by: Self.after))),
                name, key.subjectPublicKeyInfo, DERWriter.value(0xA3, DERWriter.value(0x30, extensions)))
        }
        var toBeSigned = written(extensions)
        if let logs, let issuer {
            guard
                let timestamps = logs.timestamps(over: toBeSigned, issuedBy: issuer.key.subjectPublicKeyInfo)
            else { return nil }
            toBeSigned = written(extensions + Self.timestampExtension(timestamps))
        }
        guard let signature = (issuer?.key ?? key).certificateSignature(over: toBeSigned) else { return nil }
        self.der = DERWriter.sequence(toBeSigned, algorithm, DERWriter.bits(signature))
        self.key = key
        self.name = name
    }

    /// Organisation and common name.
    private static func name(_ company: String, _ own: String) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.set(of: DERWriter.sequence(DERWriter.identifier(0x55, 0x04, 0x0A), DERWriter.text(company))),
            DERWriter.set(of: DERWriter.sequence(DERWriter.identifier(0x55, 0x04, 0x03), DERWriter.text(own))))
    }

    /// Twenty bytes of the key's SHA-256 (RFC 7093, section 2).
    private static func keyIdentifier(_ key: TrialKey) -> [UInt8] {
        Array(SHA256.hash(data: key.subjectPublicKeyInfo).prefix(20))
    }

    /// The extensions of RFC 5280, section 4.2.1, that servers and authorities have.
    private static func extensions(_ place: Place, _ key: TrialKey, _ issuer: [UInt8]?) -> [UInt8] {
        func one(_ number: UInt8, isCritical: Bool = false, _ value: [UInt8]) -> [UInt8] {
            DERWriter.sequence(
                DERWriter.identifier(0x55, 0x1D, number), isCritical ? DERWriter.value(0x01, [0xFF]) : [],
                DERWriter.value(0x04, value))
        }
        var all = one(0x0E, DERWriter.value(0x04, Self.keyIdentifier(key)))
        if let issuer { all += one(0x23, DERWriter.sequence(DERWriter.value(0x80, issuer))) }
        switch place {
        case .authority:
            all += one(0x13, isCritical: true, DERWriter.sequence(DERWriter.value(0x01, [0xFF])))
            // Signs certificates and revocation lists.
            all += one(0x0F, isCritical: true, DERWriter.bits([0x06], unused: 1))
        case .server(let host):
            all += one(0x0F, isCritical: true, DERWriter.bits([0x80], unused: 7))
            // For TLS servers.
            all += one(
                0x25,
                DERWriter.sequence(DERWriter.identifier(0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01)))
            all += one(0x11, DERWriter.sequence(DERWriter.value(0x82, Array(host.utf8))))
        }
        return all
    }

    /// The extension with the timestamps of logs (RFC 6962, section 3.3).
    private static func timestampExtension(_ timestamps: [UInt8]) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.identifier(0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x04, 0x02),
            DERWriter.value(0x04, timestamps))
    }
}

extension Timestamp {
    /// The time so many seconds later.
    func shifted(by seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: self.secondsSince1970 + seconds) }
}
