// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// An attestation, which an app sends once for a key: `{fmt: "apple-appattest", attStmt: {x5c: [leaf, intermediate],
/// receipt}, authData}`.
struct AttestationObject {
    private static let format = "apple-appattest"

    /// The maximum number of certificates: Apple sends two.
    private static let maximumCertificates = 8

    /// The certificates in DER, the leaf first.
    let certificates: [[UInt8]]

    /// The receipt, unverified.
    let receipt: [UInt8]

    /// The authenticator data.
    let authenticatorData: AuthenticatorData

    /// Reads an attestation.
    ///
    /// - Throws: ``AttestationError`` without a step for bytes that are not an attestation, and of step 1 for one
    ///   whose list of certificates cannot be a path.
    init(_ bytes: [UInt8]) throws(AttestationError) {
        let object: CBORValue
        do throws(CBORError) { object = try CBORReader.value(of: bytes[...]) } catch {
            throw AttestationError(step: nil, "the attestation cannot be read: \(error)")
        }
        guard object["fmt"]?.asText == Self.format else {
            throw AttestationError(step: nil, "the attestation is not of the format \(Self.format)")
        }
        guard let statement = object["attStmt"], let authenticatorData = object["authData"]?.asBytes,
            let receipt = statement["receipt"]?.asBytes, case .array(let items)? = statement["x5c"]
        else { throw AttestationError(step: nil, "a member of the attestation is missing or of another type") }
        let certificates = items.compactMap(\.asBytes)
        guard certificates.count == items.count else {
            throw AttestationError(step: nil, "a member of x5c is not a byte string")
        }
        guard (1...Self.maximumCertificates).contains(certificates.count) else {
            throw AttestationError(step: 1, "x5c must have 1 to \(Self.maximumCertificates) certificates")
        }
        self.certificates = certificates
        self.receipt = receipt
        self.authenticatorData = AuthenticatorData(bytes: authenticatorData)
    }
}
#endif
