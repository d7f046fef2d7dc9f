// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// The SubjectPublicKeyInfo is taken from the certificate as it is, readable or not.
@Suite("Pins of certificates, as they stand")
struct CertificatePinTests {
    @Test("a real certificate, with the pin that openssl printed for it")
    func realCertificateWithThePinThatOpensslPrintedForIt() throws {
        #expect(try Pin(publicKeyOf: SampleCertificate.der) == Pin(SampleCertificate.pin))
    }

    @Test("an ML-DSA certificate, which the openssl of many machines cannot read")
    func mlDSACertificateWhichTheOpensslOfManyMachinesCannotRead() throws {
        #expect(MLDSACertificate.der.count == 3_877)
        #expect(try Pin(publicKeyOf: MLDSACertificate.der) == Pin(MLDSACertificate.pin))
    }

    @Test("a key of an unknown algorithm has its pin", arguments: [0, 1, 31, 32, 255, 256, 4_096, 60_000])
    func keyOfAnUnknownAlgorithmHasItsPin(length: Int) throws {
        let certificate = SketchedCertificate(subject: "x", key: [UInt8](repeating: 0xa5, count: length))
        #expect(try Pin(publicKeyOf: certificate.der) == certificate.pin)
    }

    /// openssl would rebuild the first with the NULL that RFC 3279 asks for, and so print another pin. A pin that is
    /// rebuilt is a pin of bytes that were never sent: TrustKit blocked P-384 and RSA 3072 that way.
    @Test("the parameters of an algorithm are taken as they stand: absent, NULL, or anything")
    func parametersOfAnAlgorithmAreTakenAsTheyStandAbsentNULLOrAnything() throws {
        let rsaEncryption = DERNode(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01])
        let bits = DERNode(0x03, [0, 0x30, 0x06, 0x02, 0x01, 0x7b, 0x02, 0x01, 0x03])
        let parameters: [[DERNode]] = [[], [DERNode(0x05, [])], [DERNode(0x0c, Array("?".utf8))]]
        var pins: Set<Pin> = []
        for parameter in parameters {
            var algorithm = DERNode(0x30, rsaEncryption)
            algorithm.children += parameter
            var certificate = Cast.leaf
            certificate.tree[SketchedCertificate.Place.key] = DERNode(0x30, algorithm, bits)
            let pin = try Pin(publicKeyOf: certificate.der)
            #expect(pin == certificate.pin)
            pins.insert(pin)
        }
        #expect(pins.count == parameters.count)
    }

    @Test("a certificate of version 1 has neither a version nor extensions, and a pin")
    func certificateOfVersion1HasNeitherAVersionNorExtensionsAndAPin() throws {
        var certificate = Cast.leaf
        certificate.tree[SketchedCertificate.Place.toBeSigned].children.removeLast()
        certificate.tree[SketchedCertificate.Place.toBeSigned].children.removeFirst()
        #expect(try Pin(publicKeyOf: certificate.der) == Cast.leaf.pin)
    }

    @Test("unique identifiers between key and extensions do not move the pin")
    func uniqueIdentifiersBetweenKeyAndExtensionsDoNotMoveThePin() throws {
        var certificate = Cast.leaf
        certificate.tree[SketchedCertificate.Place.toBeSigned].children
            .insert(contentsOf: [DERNode(0x81, [0, 1]), DERNode(0x82, [0, 2])], at: 7)
        #expect(try Pin(publicKeyOf: certificate.der) == Cast.leaf.pin)
    }

    @Test("the ranges of the walk are the elements, headers included")
    func rangesOfTheWalkAreTheElementsHeadersIncluded() throws {
        let der = Cast.leaf.der
        let fields = try CertificateFields(walking: der)
        #expect(Array(der[fields.issuer]) == Cast.leaf.tree[SketchedCertificate.Place.issuer].encoded)
        #expect(Array(der[fields.validity]) == Cast.leaf.tree[SketchedCertificate.Place.validity].encoded)
        #expect(Array(der[fields.subject]) == Cast.leaf.tree[SketchedCertificate.Place.subject].encoded)
        #expect(Array(der[fields.subjectPublicKeyInfo]) == Cast.leaf.tree[SketchedCertificate.Place.key].encoded)
    }

    @Test("borrowed bytes in the middle of a larger buffer give the same pin")
    func borrowedBytesInTheMiddleOfALargerBufferGiveTheSamePin() throws {
        let around = [UInt8](repeating: 0x30, count: 7)
        let buffer = around + SampleCertificate.der + around
        let pin = buffer.withUnsafeBytes { bytes in
            let certificate = bytes[around.count..<bytes.count - around.count]
            return try? Pin(publicKeyOf: UnsafeRawBufferPointer(rebasing: certificate))
        }
        #expect(pin == (try Pin(SampleCertificate.pin)))
    }

    @Test("exactly 65,536 bytes are read, one more is refused before anything is looked at")
    func exactly65536BytesAreReadOneMoreIsRefusedBeforeAnythingIsLookedAt() throws {
        var certificate = Cast.leaf
        let padding = CertificateFields.maximumCertificateLength - certificate.der.count
        // Headers grow with the contents: the last bytes are found by trying.
        var contents = padding - 16
        repeat {
            certificate.tree[SketchedCertificate.Place.extensions] = DERNode(
                0xa3, [UInt8](repeating: 0, count: contents))
            contents += 1
        } while certificate.der.count < CertificateFields.maximumCertificateLength
        #expect(certificate.der.count == 65_536)
        #expect(try Pin(publicKeyOf: certificate.der) == Cast.leaf.pin)

        certificate.tree[SketchedCertificate.Place.extensions] = DERNode(0xa3, [UInt8](repeating: 0, count: contents))
        #expect(throws: InvalidCertificateError.tooLarge) { try Pin(publicKeyOf: certificate.der) }
        #expect(throws: InvalidCertificateError.tooLarge) {
            try Pin(publicKeyOf: [UInt8](repeating: 0, count: 1 << 24))
        }
    }
}
