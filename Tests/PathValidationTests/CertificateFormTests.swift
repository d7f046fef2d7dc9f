// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import SwiftASN1
import Testing
import X509

/// What a parser lets through and other implementations refuse.
@Suite("Certificates in a form that no real server sends")
struct CertificateFormTests {
    private let root: TestCertificate
    private let issuer: TestCertificate
    private let leaf: TestCertificate

    init() throws {
        self.root = try .authority("Root")
        self.issuer = try .authority("Issuer", by: self.root)
        self.leaf = try .server(by: self.issuer)
    }

    /// Whether a chain validates with one field of one certificate replaced: of the leaf, the intermediate, the anchor.
    private func isAccepted(_ field: TestCertificate.Field, _ value: [UInt8]) async throws -> [Bool] {
        let leaf = try self.leaf.reissued(by: self.issuer, field, value)
        let issuer = try self.issuer.reissued(by: self.root, field, value)
        let root = try self.root.reissued(by: self.root, field, value)
        return try await self.areAccepted(leaf, issuer, root)
    }

    private func areAccepted(_ leaf: [UInt8], _ issuer: [UInt8], _ root: [UInt8]) async throws -> [Bool] {
        var answers: [Bool] = []
        for (chain, anchor) in [
            ([leaf, self.issuer.der], self.root.der), ([self.leaf.der, issuer], self.root.der),
            ([self.leaf.der, self.issuer.der], root),
        ] {
            answers.append(try await validate(chain, roots: [anchor]).path == chain + [anchor])
        }
        return answers
    }

    @Test("an inner signature algorithm that is not the outer one, byte for byte")
    func innerSignatureAlgorithmThatIsNotTheOuterOneByteForByte() async throws {
        let md5WithRSA: [UInt8] = [0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 4, 5, 0]
        // ECDSA with SHA-256, and a NULL where nothing may stand.
        let withNull: [UInt8] = [0x30, 0x0c, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2, 5, 0]
        let withSHA384: [UInt8] = [0x30, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3]
        let same: [UInt8] = [0x30, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]
        #expect(try await self.isAccepted(.signature, same) == [true, true, true])
        for other in [md5WithRSA, withNull, withSHA384] {
            // An anchor's own signature is not checked.
            #expect(try await self.isAccepted(.signature, other) == [false, false, true])
        }
        let refusal = try await validate(
            [try self.leaf.reissued(by: self.issuer, .signature, withSHA384), self.issuer.der], roots: [self.root.der]
        ).refusal
        #expect(refusal?.reason == .chainInvalid)
        #expect(refusal?.detail.contains("signature algorithms") == true)
    }

    @Test("a serial number of 20 octets is the longest")
    func serialNumberOf20OctetsIsTheLongest() async throws {
        let maximum = [UInt8](repeating: 0xff, count: 20)
        let accepted = try await self.isAccepted(.serialNumber, DERParts.element(2, [0] + maximum))
        #expect(accepted == [true, true, true])
        let refused = try await self.isAccepted(.serialNumber, DERParts.element(2, [1] + maximum))
        #expect(refused == [false, false, true])
    }

    @Test("a validity with a fraction of a second, or with a second 60")
    func validityWithAFractionOfASecondOrWithASecond60() async throws {
        func validity(_ notAfter: String, tag: UInt8) -> [UInt8] {
            DERParts.sequence([
                DERParts.element(0x17, Array("260101000000Z".utf8)), DERParts.element(tag, Array(notAfter.utf8)),
            ])
        }
        for (text, tag) in [("270201000059Z", UInt8(0x17)), ("20500101000000Z", 0x18)] {
            #expect(try await self.isAccepted(.validity, validity(text, tag: tag)) == [true, true, true])
        }
        for (text, tag) in [("270201000060Z", UInt8(0x17)), ("20500101000000.5Z", 0x18), ("20500101000060Z", 0x18)] {
            #expect(try await self.isAccepted(.validity, validity(text, tag: tag)) == [false, false, false])
        }
    }

    @Test("a leaf without a subject, whose alternative names are not critical")
    func leafWithoutASubjectWhoseAlternativeNamesAreNotCritical() async throws {
        for isCritical in [true, false] {
            let names = try Certificate.Extension(
                SubjectAlternativeNames([.dnsName("api.example.com")]), critical: isCritical)
            let leaf = try TestCertificate("", by: self.issuer) { $0.others = [names] }
            #expect((try await validate([leaf, self.issuer], roots: [self.root]).path != nil) == isCritical)
        }
    }

    private func extensions(_ oid: ASN1ObjectIdentifier, _ value: [UInt8]) async throws -> [Bool] {
        let change = { (form: inout TestCertificate.Form) in
            form.withKeyIdentifiers = false
            form.others = [Certificate.Extension(oid: oid, critical: false, value: value[...])]
        }
        let leaf = try TestCertificate.server(by: self.issuer, change)
        let issuer = try TestCertificate.authority("Issuer", by: self.root, key: self.issuer.key, change)
        let root = try TestCertificate.authority("Root", key: self.root.key, change)
        return try await self.areAccepted(leaf.der, issuer.der, root.der)
    }

    @Test(
        "key identifiers and CRL distribution points that do not parse",
        arguments: [
            ([2, 5, 29, 35], [0x30, 3, 2, 1, 0]), ([2, 5, 29, 35], [5, 0]), ([2, 5, 29, 14], [5, 0]),
            ([2, 5, 29, 14], [4, 2, 0]), ([2, 5, 29, 31], [5, 0]), ([2, 5, 29, 31], [0x30, 2, 5, 0]),
            // A name that is none, an empty row of names, a field twice, and a field that there is not.
            ([2, 5, 29, 31], [0x30, 8, 0x30, 6, 0xa0, 4, 0xa0, 2, 0x9f, 0]),
            ([2, 5, 29, 31], [0x30, 6, 0x30, 4, 0xa0, 2, 0xa0, 0]),
            ([2, 5, 29, 31], [0x30, 10, 0x30, 8, 0x81, 2, 0, 0x80, 0x81, 2, 0, 0x80]),
            ([2, 5, 29, 31], [0x30, 4, 0x30, 2, 0xa3, 0]),
        ] as [(ASN1ObjectIdentifier, [UInt8])])
    func keyIdentifiersAndCRLDistributionPointsThatDoNotParse(oid: ASN1ObjectIdentifier, value: [UInt8]) async throws {
        #expect(try await self.extensions(oid, value) == [false, false, true])
    }

    @Test("those that parse: by address, by directory, relative to the issuer, with reasons and an indirect issuer")
    func thoseThatParseByAddressByDirectoryRelativeToTheIssuer() async throws {
        let address = DERParts.element(0x86, Array("http://crl.example.com/a.crl".utf8))
        var serializer = DER.Serializer()
        try serializer.serialize(try DistinguishedName { CommonName("CRL 1") })
        let directory = DERParts.element(0xa4, serializer.serializedBytes)
        let relative = DERParts.element(0xa1, DERParts.elements(within: serializer.serializedBytes)[0].dropFirst(2))
        for name in [DERParts.element(0xa0, address), DERParts.element(0xa0, address + directory), relative] {
            let point = [DERParts.element(0xa0, name), [0x81, 2, 1, 0x06], DERParts.element(0xa2, directory)]
            for fields in [[point[0]], point, [point[0], point[2]], [point[2]]] {
                let value = DERParts.sequence([DERParts.sequence(fields)])
                #expect(try await self.extensions([2, 5, 29, 31], value) == [true, true, true])
            }
        }
    }

    @Test("unique identifiers are old and harmless; what they say is signed all the same")
    func uniqueIdentifiersAreOldAndHarmlessWhatTheySayIsSignedAllTheSame() async throws {
        let identifiers: [[[UInt8]]] = [
            [DERParts.element(0x81, [0, 1, 2])], [DERParts.element(0x82, [4, 0xf0])],
            [DERParts.element(0x81, [0]), DERParts.element(0x82, [UInt8](repeating: 0, count: 200))],
        ]
        for some in identifiers {
            let change = { (fields: inout [[UInt8]]) in fields.insert(contentsOf: some, at: 7) }
            let leaf = try self.leaf.reissued(by: self.issuer, change)
            let issuer = try self.issuer.reissued(by: self.root, change)
            let root = try self.root.reissued(by: self.root, change)
            #expect(try await self.areAccepted(leaf, issuer, root) == [true, true, true])
            #expect(try await validate([leaf, issuer], roots: [root]).path == [leaf, issuer, root])
            #expect(try await validate([leaf, issuer], roots: [root], host: "other.example").path == nil)
            #expect(try await validate([leaf, issuer], roots: [root], at: TestCertificate.time + 86_401).path == nil)
            let wrongly = try self.leaf.reissued(by: self.root, change)
            #expect(try await validate([wrongly, self.issuer.der], roots: [self.root.der]).path == nil)
            var altered = leaf
            let place = try #require(altered.indices.first { altered[$0...].starts(with: some[0]) })
            altered[place + some[0].count - 1] ^= 0x80
            #expect(try await validate([altered, self.issuer.der], roots: [self.root.der]).path == nil)
        }
        for malformed in [[0x82, 0], [0x82, 2, 8, 1], [0x82, 1, 1], [0x83, 2, 0, 1]] as [[UInt8]] {
            let leaf = try self.leaf.reissued(by: self.issuer) { $0.insert(malformed, at: 7) }
            #expect(try await validate([leaf, self.issuer.der], roots: [self.root.der]).path == nil)
        }
    }

    @Test("a keyUsage with more padding than needed is read in an anchor, and nowhere else")
    func keyUsageWithMorePaddingThanNeededIsReadInAnAnchorAndNowhereElse() async throws {
        func answers(_ value: [UInt8]) async throws -> [Bool] {
            let change = { (form: inout TestCertificate.Form) in
                form.keyUsage = nil
                form.others = [Certificate.Extension(oid: .X509ExtensionID.keyUsage, critical: true, value: value[...])]
            }
            let leaf = try TestCertificate.server(by: self.issuer, change)
            let issuer = try TestCertificate.authority("Issuer", by: self.root, key: self.issuer.key, change)
            let root = try TestCertificate.authority("Root", key: self.root.key, change)
            return try await self.areAccepted(leaf.der, issuer.der, root.der)
        }
        #expect(try await answers([3, 3, 7, 6, 0]) == [false, false, true])
        #expect(try await answers([3, 2, 0, 6]) == [false, false, true])
        // Padded or not, it must allow what an anchor does; and padding is zeros.
        #expect(try await answers([3, 3, 7, 0x80, 0])[2] == false)
        #expect(try await answers([3, 3, 7, 6, 1])[2] == false)
    }
}
#endif
