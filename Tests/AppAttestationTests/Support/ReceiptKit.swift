// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import Foundation
import SwiftASN1
import X509

/// Apple's part in receipts, for tests: CMS SignedData under a root of its own, written as Apple writes it or otherwise.
struct ReceiptKit {
    static let created = "2026-11-18T10:26:40.153Z"
    static let expires = "2027-02-16T10:26:40.15Z"

    let root: KitCertificate
    let intermediate: KitCertificate
    let signer: KitCertificate
    /// Of the same CA, as developers have some: without the mark of a signer of receipts.
    let developer: KitCertificate
    /// The certificate of a key, for field 3.
    let attested: KitCertificate

    /// What a test may want different of a receipt.
    struct Form {
        var fields: [(UInt8, [UInt8])]
        var hasAttributes = false
        /// What is said to be the content's digest; the true one by default.
        var digest: [UInt8]?
        var isIndefinite = true
        var isByDeveloper = false
        var withCertificates = true
        var signers = 1
        /// In how many pieces the content stands.
        var pieces = 2
        var signatureAlgorithm: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
    }

    init() throws {
        self.root = try KitCertificate.authority("Kit Receipt Root")
        self.intermediate = try KitCertificate.authority("Kit Integration CA", by: self.root)
        let usage = try Certificate.Extension(KeyUsage(digitalSignature: true), critical: true)
        let mark = appleExtension([12, 15], [0x05, 0x00])
        self.signer = try KitCertificate(
            "Receipt Signing", key: Certificate.PrivateKey(P256.Signing.PrivateKey()), by: self.intermediate,
            extensions: [usage, mark])
        self.developer = try KitCertificate(
            "A Developer", key: Certificate.PrivateKey(P256.Signing.PrivateKey()), by: self.intermediate,
            extensions: [usage])
        self.attested = try KitCertificate(
            "key", key: Certificate.PrivateKey(P256.Signing.PrivateKey()), by: self.intermediate, extensions: [])
    }

    /// The fields that an app's first receipt has.
    var fields: [(UInt8, [UInt8])] {
        [
            (2, Array(AttestationKit.appID.utf8)), (3, self.attested.der), (4, [1, 2, 3]), (5, Array("token".utf8)),
            (6, Array("ATTEST".utf8)), (7, Array("production".utf8)), (12, Array(Self.created.utf8)),
            (21, Array(Self.expires.utf8)),
        ]
    }

    /// Makes a receipt.
    func receipt(_ change: (inout Form) -> Void = { _ in }) throws -> [UInt8] {
        var form = Form(fields: self.fields)
        change(&form)
        let content = ASN1Encoding.element(
            0x31,
            form.fields.flatMap { type, value in
                ASN1Encoding.sequence(
                    ASN1Encoding.integer(type), ASN1Encoding.integer(1), ASN1Encoding.element(0x04, value))
            })
        let signer = form.isByDeveloper ? self.developer : self.signer
        let constructed = form.isIndefinite ? ASN1Encoding.indefinite : ASN1Encoding.element
        let length = (content.count + form.pieces - 1) / form.pieces
        let pieces = stride(from: 0, to: content.count, by: length).map {
            ASN1Encoding.element(0x04, Array(content[$0..<min($0 + length, content.count)]))
        }
        let string = form.isIndefinite ? constructed(0x24, Array(pieces.joined())) : ASN1Encoding.element(0x04, content)
        let sha256: [UInt8] = ASN1Encoding.sequence(
            [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01], [0x05, 0x00])
        let certificates = [signer, self.intermediate, self.root].flatMap(\.der)
        let information = try self.signerInformation(of: content, by: signer, sha256, form)
        let signedData = constructed(
            0x30,
            ASN1Encoding.integer(1) + ASN1Encoding.element(0x31, sha256)
                + constructed(0x30, Self.dataType + constructed(0xa0, string))
                + (form.withCertificates ? constructed(0xa0, certificates) : [])
                + ASN1Encoding.element(0x31, Array(repeatElement(information, count: form.signers).joined())))
        let signedDataType: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
        return constructed(0x30, signedDataType + constructed(0xa0, signedData))
    }

    private static let dataType: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]

    private func signerInformation(
        of content: [UInt8], by signer: KitCertificate, _ sha256: [UInt8], _ form: Form
    ) throws -> [UInt8] {
        var message = content
        var attributes: [UInt8] = []
        if form.hasAttributes {
            let name = { (last: UInt8) in [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, last] as [UInt8]
            }
            let digest = form.digest ?? Array(SHA256.hash(data: content))
            let values =
                ASN1Encoding.sequence(name(3), ASN1Encoding.element(0x31, Self.dataType))
                + ASN1Encoding.sequence(name(4), ASN1Encoding.element(0x31, ASN1Encoding.element(0x04, digest)))
            message = ASN1Encoding.element(0x31, values)
            attributes = ASN1Encoding.element(0xa0, values)
        }
        let signature = try signer.key.sign(bytes: message, signatureAlgorithm: .ecdsaWithSHA256)
        var serializer = DER.Serializer()
        try serializer.serialize(signer.certificate.issuer)
        // As DER has it: a zero before a number that would be negative.
        let number = Array(signer.certificate.serialNumber.bytes)
        let serial = ASN1Encoding.element(0x02, (number.first.map { $0 >= 0x80 } == true ? [0] : []) + number)
        return ASN1Encoding.sequence(
            ASN1Encoding.integer(1), ASN1Encoding.sequence(serializer.serializedBytes, serial), sha256, attributes,
            ASN1Encoding.sequence(form.signatureAlgorithm),
            ASN1Encoding.element(0x04, Array(signature.rawRepresentation)))
    }
}
#endif
