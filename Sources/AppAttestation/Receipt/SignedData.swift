// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import SwiftASN1
import X509

/// A CMS SignedData with its content and one signer (RFC 5652), read as BER: Apple's receipts have indefinite
/// lengths and their content in pieces.
struct SignedData {
    /// The defect of bytes that are not a SignedData, or whose signature is invalid.
    struct ParsingError: Error {
        /// The explanation, without a full stop.
        let reason: String
    }

    /// Object identifiers, as the contents of their elements.
    private enum Name {
        static let signedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
        static let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        static let contentType: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03]
        static let messageDigest: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04]
        static let digests: [[UInt8]] = (1...3).map { [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, $0] }
        static let signatures: [[UInt8]] = (2...4).map { [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, $0] }
    }

    /// The maximum number of certificates: Apple's receipts have two or three.
    private static let maximumCertificates = 8

    private static let algorithms: [Certificate.SignatureAlgorithm] = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
    ]

    /// The signed content.
    let content: [UInt8]

    /// The signer's certificate first, then all others.
    let certificates: [[UInt8]]

    /// The signer's certificate, parsed.
    let signer: Certificate

    /// Reads a SignedData and verifies its one signature. The caller must validate the signer's certificate.
    ///
    /// - Throws: ``ParsingError`` when it cannot be read, or the signature is invalid.
    init(_ bytes: [UInt8]) throws(ParsingError) {
        let element: BERElement
        do throws(BERElement.ParsingError) { element = try BERElement.reading(bytes[...]) } catch {
            throw ParsingError(reason: "it cannot be read: \(error)")
        }
        let fields = try Self.fields(of: element)
        guard let content = Self.content(of: fields[2]), fields[0].smallInteger != nil,
            fields[1].identifier == .set, let last = fields.last, last.identifier == .set, last.children.count == 1
        else { throw ParsingError(reason: "it is not a content with one signer") }
        self.content = content
        let certificates = fields.dropFirst(3).dropLast().first {
            $0.identifier == BERElement.Identifier(.contextSpecific, 0)
        }
        let all = certificates?.children.map { Array($0.whole) } ?? []
        guard all.count <= Self.maximumCertificates else { throw ParsingError(reason: "it has too many certificates") }

        let information = try SignerInformation(last.children[0])
        guard let index = all.firstIndex(where: { information.names($0) }),
            let signer = try? Certificate(derEncoded: all[index])
        else { throw ParsingError(reason: "the signer's certificate is missing, or cannot be read") }
        self.certificates = [all[index]] + all[..<index] + all[(index + 1)...]
        self.signer = signer
        if let usage = try? signer.extensions.keyUsage, !usage.digitalSignature {
            throw ParsingError(reason: "the signer's key may not sign")
        }
        guard let message = information.message(over: content),
            signer.publicKey.isValidSignature(
                information.signature, for: message, signatureAlgorithm: information.algorithm)
        else { throw ParsingError(reason: "the signature is not valid for the content") }
    }

    /// The fields of the SignedData within its ContentInfo (RFC 5652, sections 3 and 5.1).
    private static func fields(of element: BERElement) throws(ParsingError) -> [BERElement] {
        guard element.identifier == .sequence, element.children.count == 2,
            element.children[0].identifier == .objectIdentifier,
            element.children[0].contents.elementsEqual(Name.signedData),
            element.children[1].identifier == BERElement.Identifier(.contextSpecific, 0),
            element.children[1].children.count == 1, let data = element.children[1].children.first,
            data.identifier == .sequence, (4...6).contains(data.children.count)
        else { throw ParsingError(reason: "it is not a CMS SignedData") }
        return data.children
    }

    private static func content(of element: BERElement) -> [UInt8]? {
        guard element.identifier == .sequence, element.children.count == 2,
            element.children[0].identifier == .objectIdentifier, element.children[0].contents.elementsEqual(Name.data),
            element.children[1].identifier == BERElement.Identifier(.contextSpecific, 0),
            element.children[1].children.count == 1
        else { return nil }
        return element.children[1].children[0].octets
    }

    /// A SignerInfo (RFC 5652, section 5.3), of ECDSA.
    private struct SignerInformation {
        let signature: [UInt8]
        let algorithm: Certificate.SignatureAlgorithm
        private let identifier: BERElement
        private let attributes: BERElement?

        init(_ element: BERElement) throws(ParsingError) {
            var fields = element.children[...]
            guard element.identifier == .sequence, fields.count >= 5, fields.removeFirst().smallInteger != nil else {
                throw ParsingError(reason: "its signer cannot be read")
            }
            self.identifier = fields.removeFirst()
            let digest = fields.removeFirst()
            let isAttributes = fields.first?.identifier == BERElement.Identifier(.contextSpecific, 0)
            self.attributes = isAttributes ? fields.removeFirst() : nil
            guard fields.count >= 2, let signature = fields[fields.startIndex + 1].octets,
                let kind = Name.signatures.firstIndex(where: { Self.isAlgorithm(fields[fields.startIndex], $0) }),
                Self.isAlgorithm(digest, Name.digests[kind])
            else { throw ParsingError(reason: "it was signed with an algorithm that is not accepted") }
            self.signature = signature
            self.algorithm = SignedData.algorithms[kind]
        }

        private static func isAlgorithm(_ element: BERElement, _ name: [UInt8]) -> Bool {
            guard element.identifier == .sequence, let first = element.children.first else { return false }
            return first.identifier == .objectIdentifier && first.contents.elementsEqual(name)
        }

        /// Whether a certificate is the signer's: by issuer and serial number, or by its key's identifier.
        func names(_ der: [UInt8]) -> Bool {
            if self.identifier.identifier == BERElement.Identifier(.contextSpecific, 0) {
                let certificate = try? Certificate(derEncoded: der)
                let key = try? certificate?.extensions.subjectKeyIdentifier?.keyIdentifier
                return key.map { $0.elementsEqual(self.identifier.contents) } ?? false
            }
            guard self.identifier.identifier == .sequence, self.identifier.children.count == 2,
                self.identifier.children[1].identifier == .integer, let fields = try? CertificateFields(walking: der)
            else { return false }
            return self.identifier.children[0].whole.elementsEqual(der[fields.issuer])
                && self.identifier.children[1].contents.elementsEqual(der[fields.serialNumber])
        }

        /// The signed message: the content, or attributes with its digest and its type (section 5.4).
        func message(over content: [UInt8]) -> [UInt8]? {
            guard let attributes else { return content }
            // Their DER was signed, so they must be DER: with a definite length, under the tag of a SET.
            guard attributes.hasDefiniteLength, let digest = self.value(of: Name.messageDigest, in: attributes),
                let type = self.value(of: Name.contentType, in: attributes),
                digest.octets == self.digest(of: content), type.identifier == .objectIdentifier,
                type.contents.elementsEqual(Name.data)
            else { return nil }
            return [0x31] + attributes.whole.dropFirst()
        }

        /// The one value of the one attribute with a name.
        private func value(of name: [UInt8], in attributes: BERElement) -> BERElement? {
            let found = attributes.children.filter { Self.isAlgorithm($0, name) }
            guard found.count == 1, found[0].children.count == 2, found[0].children[1].identifier == .set,
                found[0].children[1].children.count == 1
            else { return nil }
            return found[0].children[1].children[0]
        }

        private func digest(of content: [UInt8]) -> [UInt8] {
            switch self.algorithm {
            case .ecdsaWithSHA256: Array(SHA256.hash(data: content))
            case .ecdsaWithSHA384: Array(SHA384.hash(data: content))
            default: Array(SHA512.hash(data: content))
            }
        }
    }
}
#endif
