// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) import CertificatePinning

/// The walk over a certificate, and the text of its names.
enum CertificateWalk: FuzzTarget {
    static let name = "certificate-walk"

    static func check(_ bytes: [UInt8]) {
        // The quick way over common certificates finds what the careful one finds, and hides no defect.
        let quick = Self.walk(bytes) { (bytes) throws(InvalidCertificateError) in try CertificateFields(walking: bytes)
        }
        let careful = Self.walk(bytes) { (bytes) throws(InvalidCertificateError) in
            try CertificateFields(walkingWithCare: bytes)
        }
        precondition(quick == careful)
        let text = DistinguishedNameText(subjectOf: bytes)
        guard let fields = try? CertificateFields(walking: bytes) else {
            precondition((try? Pin(publicKeyOf: bytes)) == nil && text == nil)
            return
        }
        let key = Array(bytes[fields.subjectPublicKeyInfo])
        precondition((try? Pin(publicKeyOf: bytes)) == Pin(kind: .publicKey, hashing: key))
        precondition(fields.issuer.upperBound <= fields.validity.lowerBound)
        precondition(fields.subject.upperBound == fields.subjectPublicKeyInfo.lowerBound)
        precondition((text?.description.count ?? 0) <= DistinguishedNameText.maximumLength)
        // Nothing may follow, and nothing may be missing.
        precondition((try? CertificateFields(walking: bytes + [0])) == nil)
        precondition((try? CertificateFields(walking: Array(bytes.dropLast()))) == nil)
    }

    private static func walk(
        _ bytes: [UInt8], _ walk: (RawSpan) throws(InvalidCertificateError) -> CertificateFields
    ) -> Result<CertificateFields, InvalidCertificateError> {
        bytes.withUnsafeBytes { buffer in
            do throws(InvalidCertificateError) { return .success(try walk(buffer.bytes)) } catch {
                return .failure(error)
            }
        }
    }
}
