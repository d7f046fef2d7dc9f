// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// Certificates that two parsers could read in two ways (curl's CVE-2026-87866: the second parse found another key).
/// One that is not DER to its last byte has no pin.
@Suite("Certificates made to be read in two ways")
struct AmbiguousCertificateTests {
    private typealias Place = SketchedCertificate.Place

    @Test(
        "a length in the long form that the short one could say, in each place of the frame",
        arguments: SketchedCertificate.Place.all)
    func lengthInTheLongFormThatTheShortOneCouldSayInEachPlaceOfTheFrame(place: [Int]) {
        let count = Cast.leaf.tree[place].body.count
        let shortest = count < 0x80 ? 0 : count < 0x100 ? 1 : 2
        for width in 1...8 where width != shortest {
            var certificate = Cast.leaf
            certificate.tree[place].lengthForm = .long(width)
            #expect(throws: InvalidCertificateError.self, "\(width) bytes") { try Pin(publicKeyOf: certificate.der) }
            guard width < 3 else { continue }
            #expect(throws: InvalidCertificateError.lengthNotDER, "\(width) bytes") {
                try Pin(publicKeyOf: certificate.der)
            }
        }
        if shortest > 0 {
            var certificate = Cast.leaf
            certificate.tree[place].lengthForm = .long(shortest)
            #expect(throws: Never.self) { try Pin(publicKeyOf: certificate.der) }
        }
    }

    @Test("an indefinite length, as BER allows, in each place of the frame", arguments: SketchedCertificate.Place.all)
    func indefiniteLengthAsBERAllowsInEachPlaceOfTheFrame(place: [Int]) {
        var certificate = Cast.leaf
        certificate.tree[place].lengthForm = .indefinite
        #expect(throws: InvalidCertificateError.lengthNotDER) { try Pin(publicKeyOf: certificate.der) }
    }

    @Test(
        "lengths of 2^31, 2^32, 2^63 and more, which overflow the integers of some readers",
        arguments: SketchedCertificate.Place.all)
    func lengthsOf231232263AndMoreWhichOverflowTheIntegersOfSomeReaders(place: [Int]) {
        let body = Cast.leaf.tree[place].body.count
        let lowBytes: [UInt8] = [UInt8(body >> 8), UInt8(body & 0xff)]
        let lengths: [[UInt8]] = [
            [0x82, 0xff, 0xff], [0x83, 0xff, 0xff, 0xff], [0x84, 0x80, 0, 0, 0], [0x84, 0x7f, 0xff, 0xff, 0xff],
            [0x84, 0xff, 0xff, 0xff, 0xff],
            [0x88, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x88, 0x7f] + [UInt8](repeating: 0xff, count: 7),
            // The right length once the upper bytes have fallen off.
            [0x85, 1, 0, 0] + lowBytes, [0x89, 1, 0, 0, 0, 0, 0, 0] + lowBytes,
            [0xff] + [UInt8](repeating: 0, count: 125) + lowBytes,
        ]
        for length in lengths {
            var certificate = Cast.leaf
            certificate.tree[place].lengthForm = .claimed(length)
            #expect(throws: InvalidCertificateError.self) { try Pin(publicKeyOf: certificate.der) }
        }
    }

    @Test(
        "an element that reaches one byte into the next one, or ends one byte early",
        arguments: SketchedCertificate.Place.all)
    func elementThatReachesOneByteIntoTheNextOneOrEndsOneByteEarly(place: [Int]) {
        for shift in [-1, 1] {
            let count = Cast.leaf.tree[place].body.count + shift
            let header = DERNode(0, [UInt8](repeating: 0, count: count)).encoded.dropLast(count).dropFirst()
            var certificate = Cast.leaf
            certificate.tree[place].lengthForm = .claimed(Array(header))
            #expect(throws: InvalidCertificateError.self, "by \(shift)") { try Pin(publicKeyOf: certificate.der) }
        }
    }

    @Test("a key that reaches beyond what is signed, with a second key there to be found")
    func keyThatReachesBeyondWhatIsSignedWithASecondKeyThereToBeFound() throws {
        let interceptorKey = Cast.interceptor.tree[Place.key].encoded
        var certificate = Cast.leaf
        certificate.tree[Place.toBeSigned].children.removeLast()
        // The claimed end lies inside the certificate, but outside of the TBSCertificate that holds the key.
        let claimed = certificate.tree[Place.key].body.count + interceptorKey.count
        certificate.tree[Place.key].lengthForm = .claimed([UInt8(claimed)])
        certificate.tree[Place.outerAlgorithm] = DERNode(0x30, interceptorKey)
        #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: certificate.der) }
    }

    /// `[0] EXPLICIT` is one header around another. Parsers that step over the outer one by its length find the first key
    /// behind it; those that read on behind the INTEGER find the second one, which is the version's to them.
    @Test("a version that holds the fields of another certificate, key included")
    func versionThatHoldsTheFieldsOfAnotherCertificateKeyIncluded() {
        var certificate = Cast.leaf
        certificate.tree[Place.version].children += Cast.interceptor.tree[Place.toBeSigned].children[1...6]
        #expect(throws: InvalidCertificateError.trailingBytes) { try Pin(publicKeyOf: certificate.der) }
    }

    @Test("a second key behind the first is never the pin")
    func secondKeyBehindTheFirstIsNeverThePin() throws {
        let interceptorKey = Cast.interceptor.tree[Place.key]

        // In the place of the unique identifiers and extensions, which the walk frames and does not read.
        var beside = Cast.leaf
        beside.tree[Place.toBeSigned].children.insert(interceptorKey, at: 7)
        #expect(try Pin(publicKeyOf: beside.der) == Cast.leaf.pin)

        var within = Cast.leaf
        within.tree[Place.key].children += interceptorKey.children
        #expect(throws: InvalidCertificateError.trailingBytes) { try Pin(publicKeyOf: within.der) }
    }

    @Test(
        "bytes after the certificate, its key, or its signature",
        arguments: [[0], [0, 0], [0x30, 0], [0xff]] as [[UInt8]])
    func bytesAfterTheCertificateItsKeyOrItsSignature(junk: [UInt8]) {
        #expect(throws: InvalidCertificateError.trailingBytes) { try Pin(publicKeyOf: Cast.leaf.der + junk) }
        for place in [[], Place.key] {
            var certificate = Cast.leaf
            let body = certificate.tree[place].body
            certificate.tree[place].contents = .bytes(body + junk)
            #expect(throws: InvalidCertificateError.trailingBytes) { try Pin(publicKeyOf: certificate.der) }
        }
    }

    @Test("two certificates in one blob are not one certificate")
    func twoCertificatesInOneBlobAreNotOneCertificate() {
        #expect(throws: InvalidCertificateError.trailingBytes) {
            try Pin(publicKeyOf: Cast.leaf.der + Cast.interceptor.der)
        }
        #expect(throws: InvalidCertificateError.truncated) {
            try Pin(publicKeyOf: DERNode(0x30, Cast.leaf.tree, Cast.interceptor.tree).encoded)
        }
    }

    @Test("what was hashed is what the walk points at, in one and the same parse")
    func whatWasHashedIsWhatTheWalkPointsAtInOneAndTheSameParse() throws {
        for der in [SampleCertificate.der, MLDSACertificate.der, Cast.leaf.der] {
            let key = try CertificateFields(walking: der).subjectPublicKeyInfo
            #expect(try Pin(publicKeyOf: der) == Pin(kind: .publicKey, hashing: Array(der[key])))
        }
    }
}
