// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinReportAnalysis

@Suite("Groups of reports")
struct ReportGroupTests {
    private func group(_ chain: [[UInt8]], _ changes: [(String, JSONValue)] = []) throws -> ReportGroup {
        ReportGroup(try ReportText.report(chain: chain, changes))
    }

    @Test("an interceptor makes a new leaf for each connection, and stays one group")
    func interceptorMakesANewLeafForEachConnectionAndStaysOneGroup() throws {
        var leaves = DistinctLeaves()
        var groups: Set<String> = []
        for number in 0..<1_000 {
            let report = try ReportText.report(chain: SketchedChain.chain(leafKey: number, organisation: "Acme Proxy"))
            groups.insert(ReportGroup(report).id)
            _ = leaves.insert(try #require(report.leaf).pin)
        }
        #expect(groups.count == 1)
        #expect(leaves.count == BoundedCount(16, isMore: true))
        #expect(leaves.count.description == "16 or more")
    }

    @Test("a rotation is one leaf, however many report it")
    func rotationIsOneLeafHoweverManyReportIt() throws {
        var leaves = DistinctLeaves()
        var groups: Set<ReportGroup> = []
        for _ in 0..<100 {
            let report = try ReportText.report(chain: SketchedChain.chain(leafKey: 9))
            groups.insert(ReportGroup(report))
            _ = leaves.insert(try #require(report.leaf).pin)
        }
        #expect(groups.count == 1)
        #expect(groups.first?.issuer == "CN=R11, O=Let's Encrypt")
        #expect(groups.first?.issuerPin == (try Pin(publicKeyOf: SketchedChain.chain()[1])))
        #expect(leaves.count == BoundedCount(1))
    }

    @Test("an issuer that takes the name of an authority, with a key of its own, is not counted with it")
    func issuerThatTakesTheNameOfAnAuthorityWithAKeyOfItsOwnIsNotCountedWithIt() throws {
        let real = try self.group(SketchedChain.chain())
        let borrowed = try self.group(SketchedChain.chain(issuerKey: 66))
        #expect(real.issuer == borrowed.issuer)
        #expect(real.id != borrowed.id)
        // And the certificate of an authority laid beside a leaf that it did not issue is not its issuer.
        let own = SketchedChain.chain(organisation: "Somebody")[0]
        #expect(try self.group([own, SketchedChain.chain()[1]]).issuerPin == nil)
        #expect(try self.group([own, SketchedChain.chain()[1]]).issuer == "CN=R11, O=Somebody")
    }

    @Test("a product that makes a root for each device is one group")
    func productThatMakesARootForEachDeviceIsOneGroup() throws {
        let first = try self.group(
            SketchedChain.chain(issuerKey: 1, organisation: "mitmproxy", commonName: "mitmproxy"))
        let second = try self.group(
            SketchedChain.chain(issuerKey: 2, organisation: "mitmproxy", commonName: "mitmproxy"))
        #expect(first.id == second.id)
        #expect(first.issuerPin == nil)
        let other = try self.group(SketchedChain.chain(issuerKey: 1, organisation: "AO Kaspersky Lab", commonName: "x"))
        #expect(other.id != first.id)
    }

    @Test("self-signed leaves are told apart by their names, not by their keys")
    func selfSignedLeavesAreToldApartByTheirNamesNotByTheirKeys() throws {
        func leaf(_ name: String, _ key: UInt8) -> [UInt8] {
            SketchedChain.certificate(subject: (name, name), issuer: (name, name), key: [key])
        }
        let group = try self.group([leaf("a", 1)])
        #expect(try self.group([leaf("a", 2)]).id == group.id)
        #expect(try self.group([leaf("b", 1)]).id != group.id)
        #expect(try self.group([leaf("a", 1), leaf("a", 2)]).id == group.id)
        #expect(group.issuer == "CN=a, O=a")
    }

    @Test("each part of the key makes another group, and no text of one looks like two")
    func eachPartOfTheKeyMakesAnotherGroupAndNoTextOfOneLooksLikeTwo() throws {
        let chain = SketchedChain.chain()
        let changes: [(String, JSONValue)] = [
            ("noted-hostname", .string("other.example")), ("app-version", .string("4.3")),
            ("app-bundle-id", .string("com.example.other")),
            ("tumbler", .object([.init("reason", .string("denied-key")), .init("list-version", .integer(7))])),
            ("tumbler", .object([.init("reason", .string("no-matching-pin")), .init("list-version", .integer(8))])),
            (
                "tumbler",
                .object([
                    .init("reason", .string("no-matching-pin")), .init("list-version", .integer(7)),
                    .init("list-name", .string("other")),
                ])
            ),
        ]
        var ids = Set(try changes.map { try self.group(chain, [$0]).id })
        ids.insert(try self.group(chain).id)
        ids.insert(try self.group([]).id)
        #expect(ids.count == changes.count + 2)
        let one = try self.group(chain, [("app-bundle-id", .string("a\",\"b")), ("app-version", .string("c"))])
        let two = try self.group(chain, [("app-bundle-id", .string("a")), ("app-version", .string("b\",\"c"))])
        #expect(one.id != two.id)
        // Members that do not say what failed: the time, the port, the host below the entry, the enforcement.
        let same = try self.group(
            chain,
            [
                ("date-time", .string("2020-01-01T00:00:00Z")), ("port", .integer(8_443)),
                ("hostname", .string("b.example.com")), ("enforce-pinning", .bool(false)),
            ])
        #expect(same.id == (try self.group(chain).id))
    }

    @Test("the id stays what it is from version to version of the service")
    func idStaysWhatItIsFromVersionToVersionOfTheService() throws {
        let report = try ReportText.report("{\"hostname\":\"a.example\",\"validation-result\":2}")
        let key = "[\"1\",\"tls\",\"chain-invalid\",\"a.example\",\"\",\"\",\"\",null,\"\"]"
        #expect(ReportGroup(report).id == Envelope.digest(of: Array(key.utf8)))
    }

    @Test("a report without room is counted by its kind")
    func reportWithoutRoomIsCountedByItsKind() {
        let groups = CollectedReport.Kind.allCases.map { ReportGroup.overflow(of: $0) }
        #expect(Set(groups.map(\.id)).count == 5)
        #expect(groups.allSatisfy { $0.reason == ReportGroup.overflowReason })
        #expect(groups.map(\.kind) == CollectedReport.Kind.allCases)
    }
}
