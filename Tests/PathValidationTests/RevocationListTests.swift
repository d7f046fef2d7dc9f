// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
@testable import PathValidation
import SwiftASN1
import Testing
import X509

@Suite("Revocation lists")
struct RevocationListTests {
    private struct PKI {
        let root: TestCertificate
        let intermediate: TestCertificate
        let server: TestCertificate

        init(_ change: (inout TestCertificate.Form) -> Void = { _ in }) throws {
            self.root = try TestCertificate.authority("Root") { $0.serialNumber = Certificate.SerialNumber(1) }
            self.intermediate = try TestCertificate.authority("Intermediate", by: self.root) {
                $0.serialNumber = Certificate.SerialNumber(2)
            }
            self.server = try TestCertificate.server(by: self.intermediate) {
                $0.serialNumber = Certificate.SerialNumber(bytes: [0x0a, 0x1b])
                change(&$0)
            }
        }

        /// The outcome of the chain under some lists.
        func outcome(
            _ lists: [[UInt8]], _ demand: RevocationCheck.Demand = .ifKnown, at time: Int64 = TestCertificate.time
        ) async throws -> PathOutcome {
            try await validate(
                [self.server, self.intermediate], roots: [self.root],
                revocation: RevocationCheck(try RevocationLists(lists), demand), at: time)
        }

        /// The reason of the refusal; `nil` where the path is valid.
        func reason(
            _ lists: [[UInt8]], _ demand: RevocationCheck.Demand = .ifKnown, at time: Int64 = TestCertificate.time
        ) async throws -> PinningDecision.Reason? {
            try await self.outcome(lists, demand, at: time).refusal?.reason
        }

        /// What the lists say of the server's certificate.
        func status(_ list: TestRevocationList, at time: Int64 = TestCertificate.time) async throws -> RevocationStatus
        {
            let lists = try RevocationLists([try list.signed(by: self.intermediate)])
            return try await lists.status(
                of: self.server.der, issuedBy: self.intermediate.der, at: Timestamp(secondsSince1970: time))
        }

        func isUnknown(_ list: TestRevocationList, at time: Int64 = TestCertificate.time) async throws -> Bool {
            if case .unknown = try await self.status(list, at: time) { return true }
            return false
        }
    }

    private static let entry = TestRevocationList.Entry(
        serial: [0x0a, 0x1b], extensions: [TestRevocationList.reason(1)])

    @Test("a revoked certificate is refused with since when and why, under both demands")
    func revokedCertificateIsRefusedWithSinceWhenAndWhyUnderBothDemands() async throws {
        let pki = try PKI()
        let list = try TestRevocationList(entries: [Self.entry]).signed(by: pki.intermediate)
        for demand in RevocationCheck.Demand.allCases {
            let refusal = try #require(try await pki.outcome([list], demand).refusal)
            #expect(refusal.reason == .revoked)
            #expect(refusal.detail.contains("0a1b") && refusal.detail.contains("2027-01-14T00:00:00Z"))
            #expect(refusal.detail.contains("keyCompromise"))
        }
    }

    @Test("a revoked intermediate is refused; the anchor is not checked")
    func revokedIntermediateIsRefusedTheAnchorIsNotChecked() async throws {
        let pki = try PKI()
        let good = try TestRevocationList().signed(by: pki.intermediate)
        let both = try TestRevocationList(entries: [.init(serial: [2]), .init(serial: [1])]).signed(by: pki.root)
        #expect(try await pki.reason([both]) == .revoked)
        let root = try TestRevocationList(entries: [.init(serial: [1])]).signed(by: pki.root)
        #expect(try await pki.reason([root, good], .required) == nil)
    }

    @Test("required asks for every certificate below the anchor; if-known lets unknown ones pass")
    func requiredAsksForEveryCertificateBelowTheAnchorIfKnownLetsUnknownOnesPass() async throws {
        let pki = try PKI()
        let ofServer = try TestRevocationList().signed(by: pki.intermediate)
        let ofIntermediate = try TestRevocationList().signed(by: pki.root)
        #expect(try await pki.reason([], .required) == .revocationUnknown)
        #expect(try await pki.reason([ofServer], .required) == .revocationUnknown)
        #expect(try await pki.reason([ofIntermediate], .required) == .revocationUnknown)
        #expect(try await pki.reason([ofServer, ofIntermediate], .required) == nil)
        for lists in [[], [ofServer], [ofIntermediate]] { #expect(try await pki.reason(lists) == nil) }
    }

    @Test("a list that ended covers nothing, and what it has is revoked all the same")
    func listThatEndedCoversNothingAndWhatItHasIsRevokedAllTheSame() async throws {
        let pki = try PKI()
        var list = TestRevocationList()
        list.nextUpdate = TestRevocationList.utcTime("270114120000Z")
        #expect(try await pki.isUnknown(list))
        list.entries = [Self.entry]
        guard case .revoked = try await pki.status(list) else {
            Issue.record("not revoked")
            return
        }
    }

    @Test("without nextUpdate a list holds for seven days, to the second; one of the future covers nothing yet")
    func withoutNextUpdateAListHoldsForSevenDaysToTheSecond() async throws {
        let pki = try PKI()
        var list = TestRevocationList()
        list.nextUpdate = nil
        let issued = try Timestamp("2027-01-14T00:00:00Z").secondsSince1970
        #expect(try await pki.status(list, at: issued) == .good(until: Timestamp(secondsSince1970: issued + 604_800)))
        #expect(try await pki.status(list, at: issued + 604_800) != .unknown(""))
        #expect(try await !pki.isUnknown(list, at: issued + 604_800))
        #expect(try await pki.isUnknown(list, at: issued + 604_801))
        #expect(try await pki.isUnknown(list, at: issued - 1))
    }

    @Test("a path is remembered for no longer than the lists cover it")
    func pathIsRememberedForNoLongerThanTheListsCoverIt() async throws {
        let pki = try PKI()
        let lists = [
            try TestRevocationList().signed(by: pki.intermediate),
            try TestRevocationList(nextUpdate: TestRevocationList.utcTime("270115100000Z")).signed(by: pki.root),
        ]
        let required = try await pki.outcome(lists, .required)
        #expect(required.validity?.upperBound == (try Timestamp("2027-01-15T10:00:00Z")))
        let known = try await pki.outcome(lists, .ifKnown)
        #expect(known.validity?.upperBound == Timestamp(secondsSince1970: TestCertificate.time + 86_400))
        let key = { (check: RevocationCheck.Demand?) in
            PathCache.Key(
                presented: [[1]], identity: .uncheckedName, roots: [], limits: .standard,
                revocation: check.map { (RevocationLists.none.digest, $0) })
        }
        #expect(Set([key(nil), key(.ifKnown), key(.required)]).count == 3)
    }

    @Test("a list of the same name and another key covers nothing, nor does one of a key that may not sign lists")
    func listOfTheSameNameAndAnotherKeyCoversNothing() async throws {
        let pki = try PKI()
        let impostor = try TestCertificate.authority("Intermediate")
        #expect(try await pki.reason([try TestRevocationList(entries: [Self.entry]).signed(by: impostor)]) == nil)
        let mute = try TestCertificate.authority("Mute", by: pki.root) { $0.keyUsage = KeyUsage(keyCertSign: true) }
        let server = try TestCertificate.server(by: mute)
        let list = try TestRevocationList(entries: [.init(serial: [42])]).signed(by: mute)
        let outcome = try await validate(
            [server, mute], roots: [pki.root], revocation: RevocationCheck(try RevocationLists([list]), .ifKnown))
        #expect(outcome.path != nil)
    }

    @Test("where one path is revoked, another one is found")
    func whereOnePathIsRevokedAnotherOneIsFound() async throws {
        let pki = try PKI()
        let other = try TestCertificate.authority("Other root")
        let crossSigned = try TestCertificate.authority("Intermediate", by: other, key: pki.intermediate.key) {
            $0.serialNumber = Certificate.SerialNumber(7)
        }
        let list = try TestRevocationList(entries: [.init(serial: [2])]).signed(by: pki.root)
        let outcome = try await validate(
            [pki.server, pki.intermediate, crossSigned], roots: [pki.root, other],
            revocation: RevocationCheck(try RevocationLists([list]), .ifKnown))
        #expect(outcome.path?.last == other.der)
    }

    @Test("scope: kinds of certificates and distribution points must fit, and both names must be the same")
    func scopeKindsOfCertificatesAndDistributionPointsMustFit() async throws {
        let uri = "http://crl.example.com/1.crl"
        let point = DERParts.element(
            0x30,
            DERParts.element(
                0x30,
                DERParts.element(0xa0, DERParts.element(0xa0, DERParts.element(0x86, Array(uri.utf8))))))
        let named = try PKI {
            $0.others.append(Certificate.Extension(oid: [2, 5, 29, 31], critical: false, value: point[...]))
        }
        let unnamed = try PKI()
        func isUnknown(_ pki: PKI, uri: String? = nil, _ flags: [UInt8] = []) async throws -> Bool {
            try await pki.isUnknown(
                TestRevocationList(extensions: [TestRevocationList.distributionPoint(uri: uri, flags)]))
        }
        #expect(try RevocationLists.addresses(of: named.server.der) == [uri])
        #expect(try RevocationLists.addresses(of: unnamed.server.der) == [])
        #expect(try await !isUnknown(named, uri: uri))
        #expect(try await isUnknown(named, uri: uri + "x"))
        #expect(try await isUnknown(unnamed, uri: uri))
        #expect(try await !isUnknown(unnamed, [0x81, 1, 0xff]))
        #expect(try await isUnknown(unnamed, [0x82, 1, 0xff]))
        #expect(try await isUnknown(unnamed, [0x83, 2, 1, 2]))
        #expect(try await isUnknown(unnamed, [0x84, 1, 0xff]))
        #expect(try await isUnknown(unnamed, [0x85, 1, 0xff]))
    }

    @Test("delta lists, unknown critical extensions of a list or an entry, and entries of other issuers cover nothing")
    func deltaListsUnknownCriticalExtensionsAndEntriesOfOtherIssuersCoverNothing() async throws {
        let pki = try PKI()
        typealias List = TestRevocationList
        let extensions: [([UInt8], isUnknown: Bool)] = [
            (List.certificateExtension(27, critical: true, [0x02, 1, 1]), true),
            (List.certificateExtension(99, critical: true, [0x05, 0]), true),
            (List.certificateExtension(99, [0x05, 0]), false), (List.certificateExtension(20, [0x02, 1, 1]), false),
        ]
        for (one, isUnknown) in extensions {
            #expect(try await pki.isUnknown(List(extensions: [one])) == isUnknown)
        }
        let entries: [([UInt8], isUnknown: Bool)] = [
            (List.certificateExtension(99, critical: true, [0x05, 0]), true),
            (List.certificateExtension(29, [0x30, 0]), true), (List.certificateExtension(99, [0x05, 0]), false),
            (List.reason(6), false),
        ]
        for (one, isUnknown) in entries {
            let list = List(entries: [Self.entry, .init(serial: [5], extensions: [one])])
            #expect(try await pki.isUnknown(list) == isUnknown)
        }
    }

    @Test("serial numbers are compared as they stand: twenty octets after a zero, negative ones, zero, short and long")
    func serialNumbersAreComparedAsTheyStand() throws {
        let issuer = try TestCertificate.authority("CA")
        var serials: [[UInt8]] = [
            [0x00], [0x80], [0xff], [0x7f], [0x00] + [UInt8](repeating: 0xff, count: 20),
            [UInt8](repeating: 0x11, count: 20), [UInt8](repeating: 0x12, count: 200),
        ]
        serials += (0..<2_000).map { [0x01, UInt8($0 >> 8), UInt8($0 & 255)] }
        let list = try RevocationList(
            try TestRevocationList(entries: serials.map { .init(serial: $0) }).signed(by: issuer))
        #expect(list.count == serials.count)
        for serial in serials { #expect(list.revocation(of: serial) != nil) }
        for serial in [[0x01], [0x00, 0x80], [0x81], [UInt8](repeating: 0xff, count: 20), [], [0x01, 0x08]] {
            #expect(list.revocation(of: serial) == nil)
        }
    }

    @Test("serial numbers that were made to fall into one bucket are found, and no others")
    func serialNumbersThatWereMadeToFallIntoOneBucketAreFoundAndNoOthers() throws {
        let issuer = try TestCertificate.authority("CA")
        let ends = [UInt8](repeating: 0x21, count: 8)
        let serials = (0..<3_000).map { ends + [UInt8($0 >> 8), UInt8($0 & 255)] + ends }
        let list = try RevocationList(
            try TestRevocationList(entries: serials.shuffled().map { .init(serial: $0) }).signed(by: issuer))
        for serial in serials { #expect(list.revocation(of: serial) != nil) }
        for other in 3_000..<6_000 {
            #expect(list.revocation(of: ends + [UInt8(other >> 8), UInt8(other & 255)] + ends) == nil)
        }
    }

    @Test("what is no revocation list is refused with a sentence")
    func whatIsNoRevocationListIsRefusedWithASentence() throws {
        let issuer = try TestCertificate.authority("CA")
        typealias List = TestRevocationList
        let entry = List.element(0x30, List.element(0x02, [1]) + List.thisUpdate)
        var lists: [TestRevocationList] = [
            List(version: [0x02, 0x01, 0x00]), List(version: [0x02, 0x01, 0x02]), List(version: [0x02, 0x00]),
            List(version: nil, extensions: [List.certificateExtension(20, [0x02, 1, 1])]),
            List(innerAlgorithm: [0x30, 0x00]), List(thisUpdate: List.utcTime("2701140000Z")),
            List(thisUpdate: List.utcTime("270230000000Z")), List(thisUpdate: [0x05, 0x00]),
            List(nextUpdate: List.utcTime("2701140000+00")), List(rawEntries: [0x30, 0x00]),
            List(rawEntries: List.element(0x30, [0x30, 0x80] + entry)), List(rawEntries: [0x30, 0x80, 0x00, 0x00]),
            List(rawEntries: List.element(0x30, entry + [0x00])),
            List(entries: [.init(serial: [])]), List(entries: [.init(serial: [0x00, 0x01])]),
            List(entries: [.init(serial: [0xff, 0x80])]), List(entries: [.init(serial: [1], date: [0x05, 0x00])]),
            List(entries: [.init(serial: [1], date: List.utcTime("x70114000000Z"))]),
            List(extensions: [List.certificateExtension(20, [1]), List.certificateExtension(20, [1])]),
            List(extensions: [[0x30, 0x00]]), List(extensions: [List.distributionPoint()]),
            List(extensions: [List.distributionPoint([0x81, 1, 0x00])]),
            List(extensions: [List.distributionPoint([0x81, 1, 0xff, 0x82, 1, 0xff])]),
            List(extensions: [List.distributionPoint([0x82, 1, 0xff, 0x81, 1, 0xff])]),
        ]
        lists.append(List(version: nil, entries: [.init(serial: [1], extensions: [List.reason(1)])]))
        for (number, list) in lists.enumerated() {
            let der = try list.signed(by: issuer)
            #expect(throws: InputError(.revocationList, ""), "\(number)") { try RevocationLists([der]) }
        }
        let good = try List(entries: [Self.entry]).signed(by: issuer)
        #expect(throws: Never.self) { try RevocationLists([good]) }
        for length in 0..<good.count {
            #expect(throws: InputError.self) { try RevocationLists([Array(good.prefix(length))]) }
        }
        #expect(throws: InputError(.revocationList, "")) { try RevocationLists([good + [0]]) }
    }

    @Test("PEM is read, several lists in one; other text, other labels and more than 32 MiB are not")
    func pemIsReadSeveralListsInOneOtherTextOtherLabelsAndMoreThan32MiBAreNot() throws {
        let issuer = try TestCertificate.authority("CA")
        let der = try TestRevocationList().signed(by: issuer)
        let pem = Array(PEMBlock(label: RevocationLists.pemLabel, bytes: der).text.utf8)
        #expect(try RevocationLists([pem]).count == 1)
        #expect(try RevocationLists([pem + pem, der]).count == 3)
        #expect(throws: InputError(.revocationList, "")) {
            try RevocationLists([Array(PEMBlock(label: "CERTIFICATE", bytes: der).text.utf8)])
        }
        #expect(throws: InputError(.revocationList, "")) { try RevocationLists([Array("hello".utf8)]) }
        let large = [UInt8](repeating: 0x30, count: RevocationLists.maximumLength + 1)
        #expect(throws: InputError(.revocationList, "")) { try RevocationLists([large]) }
    }

    @Test("a list of 32 MiB is read, one of a byte more is not, and lengths that lie are refused at once")
    func listOf32MiBIsReadOneOfAByteMoreIsNotAndLengthsThatLieAreRefusedAtOnce() throws {
        typealias List = TestRevocationList
        func list(padding: Int) -> [UInt8] {
            let padded = List.certificateExtension(99, [UInt8](repeating: 0, count: padding))
            let fields =
                [0x02, 0x01, 0x01] + List.algorithm + [0x30, 0x00] + List.thisUpdate + List.nextUpdate
                + List.element(0xa0, List.element(0x30, padded))
            return List.element(0x30, List.element(0x30, fields) + List.algorithm + List.element(0x03, [0, 1]))
        }
        // From this size on all lengths have four octets.
        let frame = list(padding: 1 << 24).count - (1 << 24)
        let largest = list(padding: RevocationLists.maximumLength - frame)
        #expect(largest.count == RevocationLists.maximumLength)
        #expect(try RevocationLists([largest]).count == 1)
        let over = list(padding: RevocationLists.maximumLength - frame + 1)
        #expect(throws: InputError(.revocationList, "")) { try RevocationLists([over]) }
        let lying: [[UInt8]] = [
            [0x30, 0x80], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [0x30, 0x84, 0x7f, 0xff, 0xff, 0xff],
            [0x30, 0x85, 0x01, 0x00, 0x00, 0x00, 0x00], [0x30, 0x88] + [UInt8](repeating: 0xff, count: 8),
            [0x30, 0xff], [0x30, 0x84, 0x00, 0x00, 0x00, 0x01], [0x30],
        ]
        let rest = [UInt8](repeating: 0x30, count: 1_000)
        for head in lying {
            #expect(throws: InputError(.revocationList, "")) { try RevocationLists([head + rest]) }
            let inner = List.element(0x30, head + rest)
            #expect(throws: InputError(.revocationList, "")) { try RevocationLists([inner]) }
            let entries = List(rawEntries: List.element(0x30, head + rest))
            let issuer = try TestCertificate.authority("CA")
            #expect(throws: InputError(.revocationList, "")) { try RevocationLists([entries.signed(by: issuer)]) }
        }
    }

    @Test("a list of another issuer says nothing, with any serial numbers")
    func listOfAnotherIssuerSaysNothingWithAnySerialNumbers() async throws {
        let pki = try PKI()
        var list = TestRevocationList(entries: [Self.entry])
        list.issuer = try TestRevocationList.subject(of: pki.root)
        #expect(try await pki.isUnknown(list))
        #expect(try await pki.reason([try list.signed(by: pki.intermediate)]) == nil)
        #expect(try await pki.reason([try list.signed(by: pki.intermediate)], .required) == .revocationUnknown)
    }

    @Test("a million entries are read, found, and kept without an object for each")
    func aMillionEntriesAreReadFoundAndKeptWithoutAnObjectForEach() throws {
        let issuer = try TestCertificate.authority("CA")
        let first: [UInt8] = [0x30, 0x15, 0x02, 0x04, 0x40, 0, 0, 0] + TestRevocationList.thisUpdate
        let entries = TestRevocationList.entries(1_000_000, from: first, countingAt: 5)
        let der = try TestRevocationList(rawEntries: TestRevocationList.element(0x30, entries)).signed(by: issuer)
        let list = try RevocationList(der)
        #expect(list.count == 1_000_000)
        // Eight bytes each, two for their bucket, and what an array reserves: no entry is a value of its own.
        #expect(list.index.reservedBytes <= 16 * list.count && list.der.count == der.count)
        for number in stride(from: 0, to: 1_000_000, by: 9_973) {
            let serial = [0x40, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
            #expect(list.revocation(of: serial)?.since == (try Timestamp("2027-01-14T00:00:00Z")))
            #expect(list.revocation(of: [0x41] + serial.dropFirst()) == nil)
        }
    }

    @Test("32 MiB of entries are indexed in less memory than they have, however short they are")
    func of32MiBOfEntriesAreIndexedInLessMemoryThanTheyHaveHoweverShortTheyAre() throws {
        let issuer = try TestCertificate.authority("CA")
        let count = (RevocationLists.maximumLength - 4_096) / 22
        let first: [UInt8] = [0x30, 0x14, 0x02, 0x03, 0x10, 0, 0] + TestRevocationList.thisUpdate
        let entries = TestRevocationList.entries(count, from: first, countingAt: 4)
        let der = try TestRevocationList(rawEntries: TestRevocationList.element(0x30, entries)).signed(by: issuer)
        #expect((RevocationLists.maximumLength - 8_192...RevocationLists.maximumLength).contains(der.count))
        let list = try RevocationList(der)
        #expect(list.count == count && count > 1_500_000)
        #expect(list.index.reservedBytes < der.count)
        #expect(list.revocation(of: [0x10, 0, 0]) != nil && list.revocation(of: [0x0f, 0, 0]) == nil)
    }

    @Test("openssl's own list is read, with its reasons", .enabled(if: OpenSSL.installed != nil, "needs openssl"))
    func opensslsOwnListIsReadWithItsReasons() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let configuration = """
                [ca]
                default_ca = one
                [one]
                database = index.txt
                default_md = sha256
                default_crl_days = 30
                crl_extensions = crl
                [crl]
                authorityKeyIdentifier = keyid
                """
            try Data(configuration.utf8).write(to: folder.appendingPathComponent("ca.cnf"))
            try Data(
                """
                R\t301231235959Z\t270101000000Z,keyCompromise\t0A1B\tunknown\t/CN=a
                R\t301231235959Z\t270102000000Z\t00FF\tunknown\t/CN=b
                V\t301231235959Z\t\t0C\tunknown\t/CN=c

                """.utf8
            ).write(to: folder.appendingPathComponent("index.txt"))
            try await openssl.run(
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "ca.pem", "-subj",
                    "/CN=CA", "-days", "30",
                ], in: folder)
            try await openssl.run(
                ["ca", "-config", "ca.cnf", "-gencrl", "-keyfile", "key.pem", "-cert", "ca.pem", "-out", "list.pem"],
                in: folder)
            try await openssl.run(["crl", "-in", "list.pem", "-outform", "DER", "-out", "list.der"], in: folder)
            func bytes(_ name: String) throws -> [UInt8] {
                Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            }
            let list = try RevocationList(try bytes("list.der"))
            #expect(try RevocationLists([try bytes("list.pem")]).revokedCount == 2)
            #expect(list.revocation(of: [0x0a, 0x1b])?.reason == "keyCompromise")
            #expect(list.revocation(of: [0x0a, 0x1b])?.since == (try Timestamp("2027-01-01T00:00:00Z")))
            #expect(list.revocation(of: [0x00, 0xff]) != nil)
            #expect(list.revocation(of: [0x0c]) == nil)
            let issuer = try PEMBlock.blocks(in: try bytes("ca.pem"))[0].bytes
            #expect(list.isSigned(by: try CandidateCertificate(issuer)))
        }
    }
}
#endif
