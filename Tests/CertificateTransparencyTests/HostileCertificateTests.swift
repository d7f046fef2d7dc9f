// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@_spi(Tools) @testable import CertificateTransparency

@Suite("Certificates that lie about their timestamps")
struct HostileCertificateTests {
    private static let now = Timestamp(secondsSince1970: 1_772_323_200)

    private static func defect(
        _ leaf: TestLeaf, issuer: [UInt8]? = TestLeaf.issuer, logs: LogList = LogList([], timestamp: nil)
    ) -> TransparencyError.Code? {
        let evidence = TransparencyEvidence(of: leaf.der, issuedBy: issuer, logs: logs)
        for policy in TransparencyPolicy.all {
            #expect(!evidence.evaluation(under: policy, at: Self.now).isSatisfied)
        }
        return evidence.defect?.code
    }

    /// A certificate whose extension has this as its value.
    private static func leaf(_ value: [UInt8]) -> TestLeaf {
        var leaf = TestLeaf()
        leaf.timestamps = value
        return leaf
    }

    private static func leaf(list: [UInt8]) -> TestLeaf { self.leaf(TestLeaf.element(0x04, list)) }

    @Test("a certificate without timestamps satisfies nothing, and says so")
    func certificateWithoutTimestampsSatisfiesNothingAndSaysSo() { #expect(Self.defect(TestLeaf()) == .noTimestamps) }

    @Test(
        "a list that is not one is a defect of its own",
        arguments: [
            [], [0], [0, 0], [0, 1], [0, 2, 0], [0, 1, 0, 0], [0, 3, 0, 1, 0, 9], [0, 3, 0, 2, 0], [0xff, 0xff],
            [0, 1, 0],
        ]
            as [[UInt8]])
    func listThatIsNotOneIsADefectOfItsOwn(list: [UInt8]) { #expect(Self.defect(Self.leaf(list: list)) == .list) }

    @Test("a value that is no OCTET STRING, or has something behind it, is refused")
    func valueThatIsNoOCTETSTRINGOrHasSomethingBehindItIsRefused() {
        let list = timestampList([[0]])
        for value in [
            [], list, TestLeaf.element(0x03, list), TestLeaf.element(0x04, list) + [0], [0x04, 0x80] + list + [0, 0],
            [0x04, 0x81, UInt8(list.count)] + list, [0x04, UInt8(list.count + 1)] + list,
        ] {
            #expect(Self.defect(Self.leaf(value)) == .extensions)
        }
    }

    @Test("timestamps for the second time are refused, wherever they stand")
    func timestampsForTheSecondTimeAreRefusedWhereverTheyStand() {
        var leaf = Self.leaf(list: timestampList([[0]]))
        let second = TestLeaf.wrapped(TestLeaf.timestampsOID, TestLeaf.element(0x04, timestampList([[0]])))
        leaf.after.append(second)
        #expect(Self.defect(leaf) == .extensions)
        leaf.after.removeLast()
        leaf.before.append(second)
        #expect(Self.defect(leaf) == .extensions)
    }

    @Test("an extension that is critical is cut out all the same; one with a number in it is refused")
    func extensionThatIsCriticalIsCutOutAllTheSameOneWithANumberInItIsRefused() throws {
        var leaf = TestLeaf()
        let list = TestLeaf.element(0x04, TestLeaf.element(0x04, timestampList([[0]])))
        let identifier = TestLeaf.element(0x06, TestLeaf.timestampsOID)
        leaf.after = [TestLeaf.element(0x30, identifier + [0x01, 0x01, 0xff] + list)]
        #expect(try LoggedCertificate(leaf.der).toBeSigned == leaf.toBeSigned(extensions: leaf.before))
        leaf.after = [TestLeaf.element(0x30, identifier + [0x02, 0x01, 0x01] + list)]
        #expect(Self.defect(leaf) == .extensions)
        leaf.after = [TestLeaf.element(0x30, identifier + list + [0x05, 0x00])]
        #expect(Self.defect(leaf) == .extensions)
        leaf.after = [TestLeaf.element(0x30, identifier)]
        #expect(Self.defect(leaf) == .extensions)
    }

    @Test("an object identifier that only begins like it is another extension")
    func objectIdentifierThatOnlyBeginsLikeItIsAnotherExtension() throws {
        let known = TestLeaf.timestampsOID
        let others: [[UInt8]] = [known + [0], Array(known.dropLast()), known.dropLast() + [5]]
        for identifier in others {
            var leaf = TestLeaf()
            leaf.after = [TestLeaf.wrapped(identifier, TestLeaf.element(0x04, timestampList([[0]])))]
            #expect(Self.defect(leaf) == .noTimestamps)
        }
    }

    @Test("something in the place of the extensions that is none is refused")
    func somethingInThePlaceOfTheExtensionsThatIsNoneIsRefused() throws {
        let leaf = TestLeaf()
        let without = leaf.toBeSigned(extensions: [])
        for end in [
            [0x05, 0x00], [0xa3, 0x00], [0xa3, 0x02, 0x31, 0x00], [0xa3, 0x02, 0x30, 0x00, 0x05, 0x00],
            [0xa3, 0x04, 0x30, 0x02, 0x05, 0x00],
        ] as [[UInt8]] {
            let contents = Array(without.dropFirst(without[1] < 0x80 ? 2 : 3)) + end
            let der = TestLeaf.certificate(TestLeaf.element(0x30, contents))
            #expect(throws: TransparencyError(.extensions, "")) { try LoggedCertificate(der) }
        }
    }

    @Test("an extension of 64 KiB whose lengths lie is refused at once, and one that is honest is read")
    func extensionOf64KiBWhoseLengthsLieIsRefusedAtOnceAndOneThatIsHonestIsRead() throws {
        let size = 64_900
        let honest = Self.leaf(list: timestampList([[UInt8](repeating: 0, count: size)]))
        #expect(Self.defect(honest) == nil)
        // A thousand bytes that claim to be 64 KiB, and 64 KiB of empty timestamps.
        #expect(Self.defect(Self.leaf(list: [0xff, 0xff] + [UInt8](repeating: 0xff, count: 1_000))) == .list)
        #expect(Self.defect(Self.leaf(list: vector([UInt8](repeating: 0, count: size)))) == .tooMany)
        #expect(Self.defect(Self.leaf(list: vector([UInt8](repeating: 0xff, count: size)))) == .list)
        var over = TestLeaf()
        over.after = [TestLeaf.wrapped([0x55, 0x1d, 0x0e], [UInt8](repeating: 0, count: 65_536))]
        #expect(Self.defect(over) == .certificate)
    }

    @Test("of 1,000 timestamps none is verified, and of 32 each")
    func of1000TimestampsNoneIsVerifiedAndOf32Each() throws {
        let log = TestLog()
        let leaf = TestLeaf()
        let small = [UInt8](repeating: 0, count: 47)
        #expect(Self.defect(Self.leaf(list: timestampList([[UInt8]](repeating: small, count: 1_000)))) == .tooMany)
        let timestamp = try log.timestamp(over: leaf.entry, milliseconds: 1)
        let logs = LogList([log.log], timestamp: nil)
        for (count, expected) in [(32, nil), (33, .tooMany)] as [(Int, TransparencyError.Code?)] {
            let made = Self.leaf(list: timestampList([[UInt8]](repeating: timestamp, count: count)))
            let evidence = TransparencyEvidence(of: made.der, issuedBy: TestLeaf.issuer, logs: logs)
            #expect(evidence.defect?.code == expected)
            #expect(evidence.findings.count == (expected == nil ? 32 : 0))
        }
    }

    @Test("one malformed timestamp and one of another version leave the others what they are")
    func oneMalformedTimestampAndOneOfAnotherVersionLeaveTheOthersWhatTheyAre() throws {
        let log = TestLog()
        let good = try log.timestamp(over: TestLeaf().entry, milliseconds: 1)
        let leaf = Self.leaf(list: timestampList([[], Array(good.dropLast()), [9, 9, 9], good]))
        let evidence = TransparencyEvidence(
            of: leaf.der, issuedBy: TestLeaf.issuer, logs: LogList([log.log], timestamp: nil))
        #expect(evidence.defect == nil && evidence.unknownVersions == 1)
        let evaluated = evidence.evaluation(under: .chrome, at: Self.now).timestamps
        #expect(evaluated.map(\.status) == [.malformed, .malformed, .valid])
        #expect(evaluated[0].log == nil && evaluated[0].timestamp == nil && evaluated[2].log == log.id.description)
    }

    @Test("what is added to a timestamp is signed with it")
    func whatIsAddedToATimestampIsSignedWithIt() throws {
        let log = TestLog()
        for size in [0, 8, 300] {
            var bytes = try log.timestamp(
                over: TestLeaf().entry, milliseconds: 1, extensions: [UInt8](repeating: 7, count: size))
            let logs = LogList([log.log], timestamp: nil)
            func status(_ bytes: [UInt8]) -> TransparencyEvaluation.Status? {
                TransparencyEvidence(
                    of: Self.leaf(list: timestampList([bytes])).der, issuedBy: TestLeaf.issuer, logs: logs
                ).evaluation(under: .chrome, at: Self.now).timestamps.first?.status
            }
            #expect(status(bytes) == .valid)
            guard size > 0 else { continue }
            bytes[45] ^= 1
            #expect(status(bytes) == .invalidSignature)
        }
    }

    @Test(
        "a validity that cannot be read, or ends before it begins, is a defect",
        arguments: [
            "991331235959Z", "260230000000Z", "2603312359Z", "260331235959+", "26033123595aZ", "250101000000Z", "",
            "20260331235959Z",
        ])
    func validityThatCannotBeReadOrEndsBeforeItBeginsIsADefect(notAfter: String) {
        var leaf = Self.leaf(list: timestampList([[0]]))
        leaf.notAfter = Array(notAfter.utf8)
        #expect(Self.defect(leaf) == .validity)
    }

    @Test("both ways to write a time are read, and the two centuries of the short one")
    func bothWaysToWriteATimeAreReadAndTheTwoCenturiesOfTheShortOne() throws {
        var leaf = TestLeaf()
        leaf.notBefore = Array("500101000000Z".utf8)
        leaf.notAfter = Array("491231235959Z".utf8)
        let logged = try LoggedCertificate(leaf.der)
        #expect(logged.notBefore.description == "1950-01-01T00:00:00Z")
        #expect(logged.notAfter.description == "2049-12-31T23:59:59Z")
        leaf.timeTag = 0x18
        leaf.notBefore = Array("00000101000000Z".utf8)
        leaf.notAfter = Array("99991231235959Z".utf8)
        let maximum = try LoggedCertificate(leaf.der)
        #expect(maximum.notAfter.description == "9999-12-31T23:59:59Z")
    }

    @Test("a path of one certificate, or with an issuer that cannot be read, proves nothing")
    func pathOfOneCertificateOrWithAnIssuerThatCannotBeReadProvesNothing() throws {
        let log = TestLog()
        let certificate = try TestLeaf().logged([(log, 1)])
        let logs = LogList([log.log], timestamp: nil)
        for issuer in [nil, [], [0x30, 0x00]] as [[UInt8]?] {
            let path = [certificate] + (issuer.map { [$0] } ?? [])
            let evidence = TransparencyEvidence(of: ValidatedPath(uncheckedValidatedPath: path), logs: logs)
            #expect(evidence.defect?.code == .issuer)
            #expect(!evidence.evaluation(under: .chrome, at: Self.now).isSatisfied)
        }
        #expect(
            TransparencyEvidence(of: ValidatedPath(uncheckedValidatedPath: []), logs: logs).defect?.code == .certificate
        )
    }

    @Test("every byte of a certificate changed, and every length of it cut, ends in an answer")
    func everyByteOfACertificateChangedAndEveryLengthOfItCutEndsInAnAnswer() throws {
        let log = TestLog()
        let certificate = try TestLeaf().logged([(log, 1), (log, 2)])
        let logs = LogList([log.log], timestamp: nil)
        for index in certificate.indices {
            var changed = certificate
            changed[index] ^= 0xff
            let evidence = TransparencyEvidence(of: changed, issuedBy: TestLeaf.issuer, logs: logs)
            // The signature beside the signed bytes is the one place that does not matter here.
            #expect(evidence.findings.count <= 2)
            #expect(
                TransparencyEvidence(of: Array(certificate.prefix(index)), issuedBy: TestLeaf.issuer, logs: logs)
                    .defect?.code == .certificate)
        }
    }
}
