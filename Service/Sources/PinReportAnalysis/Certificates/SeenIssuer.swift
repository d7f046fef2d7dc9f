// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The issuer of the leaf of a reported chain: what stays the same when an interceptor makes a new leaf, with a new
/// key, for each connection.
public struct SeenIssuer: Hashable, Sendable {
    /// The issuer's name as the leaf gives it; any certificate can have any name there.
    package let name: String
    /// The pin of the certificate above the leaf, when it has the name that the leaf gives. `nil` for a leaf alone, and
    /// for one that names itself.
    package let pin: Pin?
    /// The product that intercepts connections under this name, where the name is known.
    package let interceptor: KnownInterceptor?
    /// Whether the name is one that a certificate authority of the public web uses. The name alone: see
    /// ``PublicAuthority``.
    public let isNamedAsPublic: Bool
    /// The lower-case hex SHA-256 of the name's bytes.
    let nameDigest: String

    /// The issuer of a chain's leaf; `nil` when there is none that can be read.
    ///
    /// - Parameter chain: DER, leaf first; validated or just served.
    package init?(of chain: [[UInt8]]) {
        guard let leaf = chain.first, let fields = try? CertificateFields(walking: leaf) else { return nil }
        let isSelfIssued = leaf[fields.subject] == leaf[fields.issuer]
        self.name = DistinguishedNameText(fields.issuer, of: leaf).description
        self.nameDigest = Envelope.digest(of: Array(leaf[fields.issuer]))
        self.interceptor = KnownInterceptor.named(in: self.name)
        self.isNamedAsPublic = PublicAuthority.isNamed(in: self.name)
        guard !isSelfIssued, chain.count > 1, let above = try? CertificateFields(walking: chain[1]),
            chain[1][above.subject] == leaf[fields.issuer]
        else {
            self.pin = nil
            return
        }
        self.pin = try? Pin(publicKeyOf: chain[1])
    }

    /// The identity that tells two issuers apart in a group (``ReportGroup``).
    var identity: String {
        if let interceptor { return "product/\(interceptor.name)" }
        if let pin { return pin.description }
        return "name/\(self.nameDigest)"
    }
}
