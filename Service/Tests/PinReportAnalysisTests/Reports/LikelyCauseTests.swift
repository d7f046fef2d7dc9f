// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinReportAnalysis

@Suite("The probable cause")
struct LikelyCauseTests {
    private static let hour: Int64 = 3_600

    /// The facts of a group whose reports show a chain, within three hours.
    private func facts(
        chain: [[UInt8]] = SketchedChain.chain(), leaves: Int = 1, networks: Int?,
        _ changes: [(String, JSONValue)] = []
    ) throws -> GroupFacts {
        let report = try ReportText.report(chain: chain, changes)
        var facts = GroupFacts(
            group: ReportGroup(report), count: 120,
            seen: ReportText.now...ReportText.now.advanced(by: 3 * Self.hour))
        facts.networks = networks.map { BoundedCount($0) }
        facts.leaves = BoundedCount(leaves, isMore: leaves == DistinctLeaves.maximum)
        facts.issuerIsPublicCA = report.issuer?.isNamedAsPublic
        facts.isChainValidated = report.isChainValidated
        facts.newestListVersion = 7
        return facts
    }

    private func reason(_ reason: String, result: Int64 = 1) -> [(String, JSONValue)] {
        [
            ("tumbler", .object([.init("reason", .string(reason)), .init("list-version", .integer(7))])),
            ("validation-result", .integer(result)),
        ]
    }

    @Test("an unplanned rotation: many networks, one new leaf, a public authority")
    func unplannedRotationManyNetworksOneNewLeafAPublicAuthority() throws {
        let cause = LikelyCause(of: try self.facts(networks: 40))
        #expect(cause.kind == .rotation)
        #expect(cause.confidence == .high)
        #expect(cause.evidence.contains("All reports show the same server key."))
        #expect(cause.evidence.contains("They came from 40 networks in a day."))
        #expect(cause.evidence.contains("The certificate says that its issuer is: CN=R11, O=Let's Encrypt"))
        #expect(cause.evidence.contains("120 reports within 3 h."))
        #expect(cause.evidence.contains { $0.contains("a name can be copied") })
        #expect(LikelyCause(of: try self.facts(networks: 4)).confidence == .medium)
    }

    @Test("your own probe saw the key at the server: a rotation, of any issuer and reported from any network")
    func yourOwnProbeSawTheKeyAtTheServerARotationOfAnyIssuerAndReportedFromAnyNetwork() throws {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme CA")
        var facts = try self.facts(chain: chain, networks: 1)
        #expect(LikelyCause(of: facts).kind == .interception)
        facts.probed = ProbedKeys(at: ReportText.now.advanced(by: Self.hour), hasLeaf: true, hasIssuer: true)
        #expect(LikelyCause(of: facts).kind == .rotation)
        #expect(LikelyCause(of: facts).confidence == .high)
        #expect(LikelyCause(of: facts).evidence.contains { $0.hasSuffix("saw this key at the host.") })
        // The newest list has it: apps that hold an older one are what fails.
        facts.newestListVersion = 8
        facts.newestListAllows = true
        #expect(LikelyCause(of: facts).kind == .staleClients)
        // Another key of the issuer that the server has: a rotation once many see it, and never interception.
        facts = try self.facts(chain: chain, networks: 40)
        facts.probed = ProbedKeys(at: ReportText.now.advanced(by: -Self.hour), hasLeaf: false, hasIssuer: true)
        #expect(LikelyCause(of: facts).kind == .rotation)
        #expect(LikelyCause(of: facts).evidence.contains { $0.contains(", before the first of these reports, saw") })
        facts.networks = BoundedCount(1)
        #expect(LikelyCause(of: facts).kind == .unclear)
        facts.probed = ProbedKeys(at: ReportText.now, hasLeaf: false, hasIssuer: false)
        #expect(LikelyCause(of: facts).kind == .interception)
        #expect(LikelyCause(of: facts).evidence.contains { $0.hasSuffix("of another issuer.") })
    }

    @Test("a rotation that just began looks like a certificate that was not ordered, so it is not named")
    func rotationThatJustBeganLooksLikeACertificateThatWasNotOrderedSoItIsNotNamed() throws {
        for networks in [1, 2, nil] {
            let cause = LikelyCause(of: try self.facts(networks: networks))
            #expect(cause.kind == .unclear)
            #expect(cause.advice.contains { $0.contains("a certificate that you did not order") })
        }
    }

    @Test("a corporate proxy: many leaves of one private issuer, from one network")
    func corporateProxyManyLeavesOfOnePrivateIssuerFromOneNetwork() throws {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme Web Gateway")
        var facts = try self.facts(chain: chain, leaves: 16, networks: 1)
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .interception)
        #expect(cause.confidence == .high)
        #expect(cause.title.contains("in few places"))
        #expect(cause.evidence.contains("The reports show 16 or more different server keys."))
        #expect(cause.evidence.contains("They came from 1 network: one place, or one person."))
        #expect(cause.evidence.contains { $0.contains("O=Acme Corp") })
        facts.networks = BoundedCount(256, isMore: true)
        let wide = LikelyCause(of: facts)
        #expect(wide.title.contains("many networks"))
        #expect(wide.evidence.contains("They came from 256 or more networks in a day."))
    }

    @Test("one leaf of a private issuer: other hosts with the same issuer decide between a proxy and a new server")
    func oneLeafOfAPrivateIssuer() throws {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme CA")
        var facts = try self.facts(chain: chain, networks: 30)
        #expect(LikelyCause(of: facts).kind == .unclear)
        #expect(LikelyCause(of: facts).advice.contains { $0.contains("a private authority is possible") })
        facts.otherHosts = ["b.example", "a.example"]
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .interception)
        #expect(cause.evidence.contains("The same issuer was reported for other hosts: a.example, b.example."))
        facts.otherHosts = Set((1...9).map { "host\($0).example" })
        #expect(LikelyCause(of: facts).evidence.contains { $0.hasSuffix("host5.example and 4 more.") })
        #expect(LikelyCause(of: try self.facts(chain: chain, networks: 1)).confidence == .low)
    }

    @Test(
        "a product that names itself: said by name, with the issuer, and as a name that anyone can write",
        arguments: [
            ("mitmproxy", "mitmproxy", "a debugging proxy"), ("Zscaler Inc.", "Zscaler", "a gateway"),
            ("AO Kaspersky Lab", "Kaspersky", "antivirus software"),
        ])
    func productThatNamesItselfSaidByNameWithTheIssuerAndAsANameThatAnyoneCanWrite(
        organisation: String, product: String, category: String
    ) throws {
        let chain = SketchedChain.chain(organisation: organisation, commonName: "x")
        let cause = LikelyCause(of: try self.facts(chain: chain, leaves: 5, networks: 2))
        #expect(cause.kind == .interception)
        #expect(cause.confidence == .high)
        #expect(cause.title.contains(product))
        #expect(cause.title.contains(category))
        #expect(cause.title.hasSuffix("by the name of the issuer."))
        #expect(cause.evidence.contains { $0.contains("O=\(organisation)") })
        #expect(cause.advice.contains { $0.contains("Anyone can write this name") })
        #expect(LikelyCause(of: try self.facts(chain: chain, networks: 2)).confidence == .medium)
        // The platform refused such a chain before any pin was looked at.
        let untrusted = LikelyCause(
            of: try self.facts(chain: chain, networks: 2, self.reason("chain-invalid", result: 2)))
        #expect(untrusted.kind == .interception)
        #expect(untrusted.title.contains("does not trust"))
    }

    @Test("stale clients: the newest list has a pin for what they see")
    func staleClientsTheNewestListHasAPinForWhatTheySee() throws {
        var facts = try self.facts(networks: 40)
        facts.newestListVersion = 9
        facts.newestListAllows = true
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .staleClients)
        #expect(cause.confidence == .high)
        #expect(cause.evidence.contains("The apps held version 7 of the list; version 9 was the newest then."))
        facts.newestListAllows = nil
        #expect(LikelyCause(of: facts).confidence == .low)
        facts.newestListAllows = false
        #expect(LikelyCause(of: facts).kind == .rotation)
        // An interception of clients with an old list is not the cause stale client.
        facts.issuerIsPublicCA = false
        facts.leaves = BoundedCount(9)
        #expect(LikelyCause(of: facts).kind == .interception)
    }

    @Test("apps that refuse the hosts of an expired list have no key that the list lacks: no rotation is named")
    func appsThatRefuseTheHostsOfAnExpiredListHaveNoKeyThatTheListLacks() throws {
        var facts = try self.facts(networks: 40)
        #expect(LikelyCause(of: facts).kind == .rotation)
        facts.newestListAllows = true
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .unclear)
        #expect(cause.advice.first?.contains("expired") == true)
    }

    @Test("clocks: ahead by an hour or behind by a week; a report that waited for a day says nothing")
    func clocksAheadByAnHourOrBehindByAWeekAReportThatWaitedForADaySaysNothing() throws {
        var facts = try self.facts(networks: 12, self.reason("tls.cert.date_invalid", result: 2))
        facts.clockSkew = 400 * 86_400
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .clock)
        #expect(cause.confidence == .high)
        #expect(cause.evidence.first == "The senders' clocks are about 400 days ahead of this service's.")
        facts.clockSkew = -30 * 86_400
        #expect(LikelyCause(of: facts).kind == .clock)
        facts.clockSkew = -86_400
        #expect(LikelyCause(of: facts).kind == .unclear)
        facts.clockSkew = .min
        #expect(LikelyCause(of: facts).kind == .clock)
        facts.clockSkew = nil
        facts.leafValidity = Timestamp(secondsSince1970: 0)...ReportText.now.advanced(by: -1)
        let ended = LikelyCause(of: facts)
        #expect(ended.kind == .certificateTime)
        #expect(ended.evidence.first?.contains("1970-01-01T00:00:00Z") == true)
        facts.leafValidity = Timestamp(secondsSince1970: 0)...ReportText.now.advanced(by: 86_400)
        #expect(LikelyCause(of: facts).kind == .unclear)
    }

    @Test("cleartext, denied keys, and roots that were installed later")
    func cleartextDeniedKeysAndRootsThatWereInstalledLater() throws {
        var facts = try self.facts(networks: 3, self.reason("cleartext", result: 3))
        facts.appVersionPercent = 97
        let cleartext = LikelyCause(of: facts)
        #expect(cleartext.kind == .cleartext)
        #expect(
            cleartext.evidence.contains("97 % of the reports of this failure come from version 4.2 of the app."))
        #expect(LikelyCause(of: try self.facts(networks: 3, self.reason("denied-key"))).kind == .interception)
        let installed = try ReportText.report("{\"hostname\":\"a.example\",\"validation-result\":4}")
        let group = GroupFacts(group: ReportGroup(installed), count: 1, seen: ReportText.now...ReportText.now)
        #expect(LikelyCause(of: group).kind == .interception)
        #expect(LikelyCause(of: group).evidence.contains("1 report."))
    }

    @Test(
        "list incidents, by the refusal's code",
        arguments: [
            ("equivocation", LikelyCause.Kind.refusedList), ("rollback", .refusedList), ("unsigned", .refusedList),
            ("expired", .staleClients), ("stale", .staleClients), ("issued-in-future", .clock), ("invented", .unclear),
        ])
    func listIncidentsByTheRefusalsCode(reason: String, kind: LikelyCause.Kind) throws {
        let report = try ReportText.report("{\"tumbler\":{\"reason\":\"\(reason)\",\"list-version\":7}}")
        let facts = GroupFacts(group: ReportGroup(report), count: 3, seen: ReportText.now...ReportText.now)
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == kind)
        #expect(cause.evidence.contains("Clients gave the reason: \(reason)."))
        #expect(cause.evidence.contains("The apps held version 7 of the list."))
    }

    @Test("nothing known says what to look at; hostile names stay one bounded line")
    func nothingKnownSaysWhatToLookAtHostileNamesStayOneBoundedLine() throws {
        let bare = LikelyCause(of: try self.facts(chain: [], networks: nil))
        #expect(bare.kind == .unclear)
        #expect(bare.advice.contains { $0.hasPrefix("No certificates came along") })
        let name = "\u{202e}<img src=x>\n" + String(repeating: "x", count: 5_000)
        var facts = try self.facts(chain: SketchedChain.chain(organisation: name), leaves: 16, networks: 1)
        facts.signals = ["frida", "debugger"]
        let cause = LikelyCause(of: facts)
        #expect(cause.kind == .interception)
        #expect(cause.evidence.contains("The apps noticed: debugger, frida."))
        for sentence in cause.evidence + cause.advice + [cause.title] {
            #expect(sentence.unicodeScalars.count < 500)
            #expect(!sentence.unicodeScalars.contains { $0 == "\n" || $0 == "\u{202e}" })
        }
        let overflow = GroupFacts(
            group: .overflow(of: .pin), count: 9_999, seen: ReportText.now...ReportText.now)
        #expect(LikelyCause(of: overflow).advice.first?.contains("made-up reports") == true)
    }
}
