// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) import CertificatePinning
import Testing

/// Damage of every kind: a defect is named, nothing traps, and no damage gives a pin of anything but the key in place.
@Suite("Damaged certificates")
struct DamagedCertificateTests {
    private typealias Place = SketchedCertificate.Place

    @Test("nothing at all, and the shortest inputs there are")
    func nothingAtAllAndTheShortestInputsThereAre() {
        #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: []) }
        #expect(throws: InvalidCertificateError.truncated) {
            try Pin(publicKeyOf: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: [0x30]) }
        #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: [0x30, 0]) }
        #expect(throws: InvalidCertificateError.lengthNotDER) { try Pin(publicKeyOf: [0x30, 0x80]) }
        #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: [0x30, 0x82]) }
        #expect(throws: InvalidCertificateError.unexpectedElement) { try Pin(publicKeyOf: [0x1f, 0x01, 0]) }
    }

    @Test("every input of one byte and of two")
    func everyInputOfOneByteAndOfTwo() {
        for first in UInt8.min...UInt8.max {
            #expect((try? Pin(publicKeyOf: [first])) == nil)
            let found = (UInt8.min...UInt8.max).first { (try? Pin(publicKeyOf: [first, $0])) != nil }
            #expect(found == nil)
        }
    }

    @Test(
        "truncated at every length",
        arguments: [SampleCertificate.der, MLDSACertificate.der, Cast.leaf.der])
    func truncatedAtEveryLength(certificate: [UInt8]) {
        #expect(throws: Never.self) { try Pin(publicKeyOf: certificate) }
        var defects: [Int: InvalidCertificateError] = [:]
        for length in 0..<certificate.count {
            do throws(InvalidCertificateError) {
                _ = try Pin(publicKeyOf: Array(certificate[..<length]))
            } catch {
                defects[length] = error
            }
        }
        #expect(defects.count == certificate.count)
        #expect(Set(defects.values) == [.truncated])
    }

    @Test(
        "an element that ends early at every length, with the lengths around it made to fit",
        arguments: [[], Place.toBeSigned, Place.key])
    func elementThatEndsEarlyAtEveryLengthWithTheLengthsAroundItMadeToFit(place: [Int]) {
        let body = Cast.leaf.tree[place].body
        // Extensions are optional: without them all of the TBSCertificate is there.
        let withoutExtensions =
            Cast.leaf.tree[Place.toBeSigned].body.count - Cast.leaf.tree[Place.extensions].encoded.count
        for length in 0..<body.count where place != Place.toBeSigned || length != withoutExtensions {
            var certificate = Cast.leaf
            certificate.tree[place].contents = .bytes(Array(body[..<length]))
            #expect(throws: InvalidCertificateError.truncated, "length \(length)") {
                try Pin(publicKeyOf: certificate.der)
            }
        }
    }

    @Test(
        "every byte changed to every other value: no trap, and an unchanged key keeps its pin",
        arguments: [SampleCertificate.der, Cast.leaf.der])
    func everyByteChangedToEveryOtherValueNoTrapAndAnUnchangedKeyKeepsItsPin(certificate: [UInt8]) throws {
        let fields = try CertificateFields(walking: certificate)
        let pin = try Pin(publicKeyOf: certificate)
        var survivors = 0
        var refused = 0
        for position in certificate.indices {
            var changed = certificate
            for value in UInt8.min...UInt8.max where value != certificate[position] {
                changed[position] = value
                guard let other = try? Pin(publicKeyOf: changed) else {
                    refused += 1
                    continue
                }
                survivors += 1
                let isInKey = fields.subjectPublicKeyInfo.contains(position)
                if (other == pin) == isInKey {
                    Issue.record("byte \(position) set to \(value) gives \(other)")
                }
            }
        }
        // Names, dates and signature are not read, headers are: both kinds must have been met.
        #expect(survivors > 10_000)
        #expect(refused > 1_000)
    }

    private func walk(
        _ certificate: [UInt8], _ walk: (RawSpan) throws(InvalidCertificateError) -> CertificateFields
    ) -> Result<CertificateFields, InvalidCertificateError> {
        certificate.withUnsafeBytes { buffer in
            do throws(InvalidCertificateError) { return .success(try walk(buffer.bytes)) } catch {
                return .failure(error)
            }
        }
    }

    private func isWalkedAlike(_ certificate: [UInt8]) -> Bool {
        let quick = self.walk(certificate) { (bytes) throws(InvalidCertificateError) in
            try CertificateFields(walking: bytes)
        }
        let careful = self.walk(certificate) { (bytes) throws(InvalidCertificateError) in
            try CertificateFields(walkingWithCare: bytes)
        }
        return quick == careful
    }

    @Test(
        "certificates with the frame that nearly all have are walked quickly",
        arguments: [SampleCertificate.der] + SketchedCertificate.common.map(\.der))
    func certificatesWithTheFrameThatNearlyAllHaveAreWalkedQuickly(certificate: [UInt8]) {
        #expect(certificate.withUnsafeBytes { CertificateFields(quicklyWalking: $0.bytes) != nil })
    }

    @Test(
        "the quick way over common certificates finds the same fields and the same defects as the careful one",
        arguments: [SampleCertificate.der, MLDSACertificate.der, Cast.leaf.der] + SketchedCertificate.common.map(\.der))
    func quickWayOverCommonCertificatesFindsTheSameFieldsAndTheSameDefectsAsThe(certificate: [UInt8]) {
        #expect(self.isWalkedAlike(certificate))
        let values: [UInt8] = [0x00, 0x01, 0x02, 0x03, 0x1f, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x83, 0xa0, 0xa3, 0xff]
        for position in certificate.indices {
            #expect(self.isWalkedAlike(Array(certificate[..<position])), "\(position) bytes")
            var changed = certificate
            let found = values.first { value in
                changed[position] = value
                return !self.isWalkedAlike(changed)
            }
            #expect(found == nil, "byte \(position)")
            changed.remove(at: position)
            #expect(self.isWalkedAlike(changed), "without byte \(position)")
        }
    }

    @Test(
        "elements of every length near a change of the length's form are walked alike, quickly and with care",
        arguments: SketchedCertificate.Place.all)
    func elementsOfEveryLengthNearAChangeOfTheLengthsFormAreWalkedAlike(place: [Int]) {
        for var certificate in [Cast.leaf] + SketchedCertificate.common {
            let body = certificate.tree[place].body
            for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x101, 0xffff] {
                // What was there, cut off or with zeros behind it.
                let filling = [UInt8](repeating: 0, count: max(0, length - body.count))
                certificate.tree[place].contents = .bytes(body.prefix(length) + filling)
                for form in [DERNode.LengthForm.shortest, .long(1), .long(2), .long(3), .indefinite] {
                    if case .long(1) = form, length > 0xff { continue }
                    // These take long to make, and the long forms are tried at 257 bytes already.
                    if length > 0x101, case .long = form { continue }
                    certificate.tree[place].lengthForm = form
                    #expect(self.isWalkedAlike(certificate.der), "\(length) bytes, \(form)")
                }
            }
        }
    }

    @Test(
        "each element of the frame with the identifier of another type",
        arguments: SketchedCertificate.Place.all,
        [0x00, 0x01, 0x04, 0x05, 0x10, 0x23, 0x31, 0x70, 0xb0, 0x1f, 0x3f, 0xff] as [UInt8])
    func eachElementOfTheFrameWithTheIdentifierOfAnotherType(place: [Int], tag: UInt8) {
        var certificate = Cast.leaf
        certificate.tree[place].tag = tag
        // What follows the key is framed and not read, so there any identifier of one byte will do.
        if place == Place.extensions, tag & 0x1f != 0x1f {
            #expect(throws: Never.self) { try Pin(publicKeyOf: certificate.der) }
        } else {
            #expect(throws: InvalidCertificateError.unexpectedElement) { try Pin(publicKeyOf: certificate.der) }
        }
    }

    @Test("each element of the frame left out", arguments: SketchedCertificate.Place.all.filter { !$0.isEmpty })
    func eachElementOfTheFrameLeftOut(place: [Int]) throws {
        var certificate = Cast.leaf
        certificate.tree[Array(place.dropLast())].children.remove(at: try #require(place.last))
        let pin = try? Pin(publicKeyOf: certificate.der)
        // Version and extensions are optional.
        #expect(pin == ([Place.version, Place.extensions].contains(place) ? Cast.leaf.pin : nil))
    }

    @Test("each element of the frame written twice", arguments: SketchedCertificate.Place.all.filter { !$0.isEmpty })
    func eachElementOfTheFrameWrittenTwice(place: [Int]) throws {
        let last = try #require(place.last)
        var certificate = Cast.leaf
        certificate.tree[Array(place.dropLast())].children.insert(Cast.leaf.tree[place], at: last)
        let pin = try? Pin(publicKeyOf: certificate.der)
        // Behind the key nothing is read: extensions twice, or the key itself, do not change what the first key is.
        #expect(pin == ([Place.extensions, Place.key].contains(place) ? Cast.leaf.pin : nil))
    }

    @Test("PEM, an HTML page or random bytes in the place of DER", arguments: [31] as [UInt64])
    func pemAnHTMLPageOrRandomBytesInThePlaceOfDER(seed: UInt64) {
        for text in [
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "<html></html>", "MIIBczCCARmgAwIBAgIU",
        ] {
            #expect(throws: InvalidCertificateError.self) { try Pin(publicKeyOf: Array(text.utf8)) }
        }
        var random = SeededGenerator(seed: seed)
        for length in 0..<2_000 {
            #expect((try? Pin(publicKeyOf: random.bytes(length))) == nil)
            // With a frame that holds, so that the walk gets further.
            #expect((try? Pin(publicKeyOf: DERNode(0x30, DERNode(0x30, random.bytes(length))).encoded)) == nil)
        }
    }
}
