// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Pins of certificates.
extension Pin {
    /// The pin of a certificate's public key: the SHA-256 of its SubjectPublicKeyInfo as it stands.
    ///
    /// The walk borrows the bytes and allocates nothing. It equals
    /// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256` for every key type.
    ///
    /// - Parameter certificate: One certificate in DER, and nothing else.
    /// - Throws: What is wrong with the certificate.
    @inline(__always)
    public init(publicKeyOf certificate: UnsafeRawBufferPointer) throws(CertificateDefect) {
        let fields = try CertificateFields(walking: certificate.bytes)
        // The walk has checked that the range lies within the buffer.
        self.init(kind: .publicKey, hashing: UnsafeRawBufferPointer(rebasing: certificate[fields.subjectPublicKeyInfo]))
    }

    /// The pin of a certificate's public key; the certificate is held in an array.
    ///
    /// - Throws: What is wrong with the certificate.
    @inline(__always)
    public init(publicKeyOf certificate: borrowing [UInt8]) throws(CertificateDefect) {
        self = try certificate.withUnsafeBufferPointer { (buffer) throws(CertificateDefect) in
            try Pin(publicKeyOf: UnsafeRawBufferPointer(buffer))
        }
    }
}
