// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import Crypto
import Foundation
import NIOHTTP1
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Certificates that monitors hand in", .runsPostgreSQL)
struct SightingRequestTests {
    private static func entry(_ host: String, _ pins: [Pin], mode: PinnedDomain.Mode = .enforce) throws
        -> PinList.Domain
    {
        PinList.Domain(PinnedDomain(try HostName(host), mode: mode, pins: pins.map { KnownPin($0) }))
    }

    @Test(
        "each is evaluated by the list that is served, kept once, and those of no entry are counted",
        arguments: TestedStore.all)
    func eachIsEvaluatedByTheListThatIsServedKeptOnceAndThoseOfNoEntryAreCounted(on tested: TestedStore) async throws {
        let logged = LoggedCertificates()
        let (ours, theirs, bad) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let issuer = try logged.issuer()
        try await SightingScene.with(
            [
                try Self.entry("api.example.com", [LoggedCertificates.pin(ours)]),
                try Self.entry("www.example.com", [LoggedCertificates.pin(logged.authority)]),
            ], denied: [LoggedCertificates.pin(bad)], on: tested
        ) { scene, _ in
            let certificates = try [
                (["api.example.com"], ours), (["www.example.com"], theirs), (["api.example.com"], bad),
                (["api.example.com"], theirs), (["other.example"], theirs),
            ].map { names, key in (try logged.certificate(for: names, key: key), [issuer]) }
            let wanted = ["backup", "issuer", "denied", "unknown", "unlisted"]
            #expect(try await scene.states(certificates) == wanted)
            #expect(try await scene.states(certificates) == wanted)
            let kept = try await scene.service.store.read { try $0.sightings(of: SightingScene.name, limit: 100) }
            #expect(kept.map(\.state.rawValue).sorted() == ["backup", "denied", "issuer", "unknown"])
            #expect(Set(kept.map(\.log)) == ["https://log.example/"])
            let counts = try await scene.service.store.read { try $0.sightingCounts(of: SightingScene.name) }
            #expect(counts == [.backup: 1, .denied: 1, .issuer: 1, .unknown: 1, .unlisted: 2])
            // Without its chain an issuer's signature is not known to hold.
            let alone = try logged.certificate(for: ["www.example.com"], key: bad, serial: 9)
            #expect(try await scene.states([(alone, [])]) == ["denied"])
            let second = try logged.certificate(for: ["www.example.com"], key: theirs, serial: 9)
            #expect(try await scene.states([(second, [])]) == ["unknown"])
            #expect(try await scene.states([(second, [issuer])]) == ["issuer"])
            let metrics = try await scene.service.ask(.GET, "/metrics").text
            #expect(metrics.contains(#"tumbler_sightings{name="com.example.app",state="unlisted"} 2"#))
            #expect(metrics.contains(#"tumbler_sightings{name="com.example.app",state="pinned"} 0"#))
            let status = try await scene.service.ask(.GET, "/v1/status").text
            #expect(
                status.contains(#""counts":{"backup":1,"denied":2,"issuer":2,"unknown":1,"unlisted":2}"#), "\(status)")
        }
    }

    @Test(
        "a precertificate and its certificate are one, and the earliest log is what is said", arguments: TestedStore.all
    )
    func precertificateAndItsCertificateAreOneAndTheEarliestLogIsWhatIsSaid(on tested: TestedStore) async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try Self.entry("api.example.com", [LoggedCertificates.pin(key)])], on: tested) {
            scene, _ in
            let precertificate = try logged.certificate(for: ["api.example.com"], key: key, isPrecertificate: true)
            let certificate = try logged.certificate(for: ["api.example.com"], key: key)
            #expect(try await scene.states([(precertificate, [])], loggedAt: "2026-11-20T10:00:00Z") == ["backup"])
            #expect(try await scene.states([(certificate, [])], loggedAt: "2026-11-20T09:00:00Z") == ["backup"])
            #expect(try await scene.states([(precertificate, [])], loggedAt: "2030-01-01T00:00:00Z") == ["backup"])
            let kept = try await scene.service.store.read { try $0.sightings(of: SightingScene.name, limit: 100) }
            #expect(kept.map(\.isPrecertificate) == [false])
            #expect(kept.map(\.loggedAt?.description) == ["2026-11-20T09:00:00Z"])
            let bytes = try await scene.service.store.read {
                try $0.connection.rows("SELECT certificate FROM sighting", []).map { try $0.blob(0) }
            }
            #expect(bytes == [certificate])
        }
    }

    @Test(
        "an unknown certificate is an alarm: critical when served, gone with its key in the list, its end or a person's word",
        arguments: TestedStore.all)
    func unknownCertificateIsAnAlarm(on tested: TestedStore) async throws {
        let (logged, ours, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let (pin, foreign) = (LoggedCertificates.pin(ours), LoggedCertificates.pin(theirs))
        try await SightingScene.with([try Self.entry("api.example.com", [pin])], on: tested) { scene, repository in
            let certificate = try logged.certificate(for: ["api.example.com"], key: theirs)
            #expect(try await scene.states([(certificate, [])], loggedAt: "2026-11-12T00:00:00Z") == ["unknown"])
            let first = try #require(try await scene.alarms().first)
            #expect(first.severity == .warning)
            #expect(first.subject == "api.example.com")
            #expect(first.detail.contains(foreign.description))
            #expect(first.detail.contains("2026-11-12T00:00:00Z"))
            // A probe sees it served.
            let probe =
                #"{"hosts": [{"host": "api.example.com", "ok": false, "verdict": "block", "path": [{"pin": "\#(foreign)"}]}]}"#
            let answer = try await scene.service.ask(
                .POST, "/v1/lists/com.example.app/probe", ["Authorization": "Bearer \(scene.token)"], Array(probe.utf8))
            #expect(answer.status == 202)
            let second = try #require(try await scene.alarms().first)
            #expect(second.severity == .critical)
            #expect(second.key == first.key)
            // A person has seen it.
            let (store, now) = (scene.service.store, scene.service.clock.now)
            let isKnown = try await store.write { store in
                _ = try AlarmEvaluation(targets: []).apply([first], in: store, auditHead: "", at: now)
                return try AlarmHandling.acknowledge(first.key, in: store, by: "0123", at: now)
            }
            #expect(isKnown)
            // That was of a warning, and it is critical.
            #expect(try await scene.alarms().map(\.severity) == [.critical])
            _ = try await store.write { store in
                _ = try AlarmEvaluation(targets: []).apply([second], in: store, auditHead: "", at: now)
                return try AlarmHandling.acknowledge(second.key, in: store, by: "0123", at: now)
            }
            #expect(try await scene.alarms() == [])
            #expect(try await scene.service.actions().filter { $0 == "alarm-acknowledged" }.count == 2)
            // Another one, and its key comes into the list.
            let late = P256.Signing.PrivateKey()
            let other = try logged.certificate(for: ["api.example.com"], key: late, days: 10)
            #expect(try await scene.states([(other, [])]) == ["unknown"])
            #expect(try await scene.alarms().count == 1)
            scene.service.clock.turn(by: 11 * 86_400)
            #expect(try await scene.alarms() == [])
            let third = P256.Signing.PrivateKey()
            let renewal = try logged.certificate(for: ["api.example.com"], key: third)
            #expect(try await scene.states([(renewal, [])]) == ["unknown"])
            #expect(try await scene.alarms().count == 1)
            var next = repository
            let list = try next.publishList {
                $0.domains = [try! Self.entry("api.example.com", [pin, LoggedCertificates.pin(third)])]
            }
            let published = try await scene.service.publish([list], token: scene.publisher)
            #expect(published.status == 200, "\(published.text)")
            #expect(try await scene.alarms() == [])
            let counts = try await store.read { try $0.sightingCounts(of: SightingScene.name) }
            #expect(counts == [.backup: 1, .unknown: 2])
        }
    }

    @Test(
        "ten networks whose reports name the key make it critical; nine do not, nor those of its group that name another"
    )
    func tenNetworksWhoseReportsNameTheKeyMakeItCriticalNineDoNot() async throws {
        let (logged, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")]) { scene, _ in
            let certificate = try logged.certificate(for: ["api.example.com"], key: theirs)
            #expect(try await scene.states([(certificate, [])]) == ["unknown"])
            func report(_ certificate: [UInt8], from networks: ClosedRange<Int>) async throws {
                for network in networks {
                    let fields: HTTPHeaders = ["X-Forwarded-For": "198.51.\(network).1"]
                    #expect(try await scene.service.report(Self.report(certificate), fields).status == 202)
                }
            }
            // More leaves than a group tells apart, from as many networks.
            for network in 1...20 {
                let other = try logged.certificate(for: ["api.example.com"], key: P256.Signing.PrivateKey())
                try await report(other, from: network...network)
            }
            for (networks, severity) in [
                (1...1, Alarm.Severity.warning), (1...9, .warning), (10...10, .critical),
            ] {
                try await report(certificate, from: networks)
                #expect(try await scene.alarms().map(\.severity) == [severity])
            }
            let groups = try await scene.service.store.read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.count == 1)
            let detail = try await scene.alarms().first?.detail
            #expect(detail?.contains("reports from 10 networks on one day name this key") == true)
        }
    }

    /// A report of a chain that no pin matched.
    private static func report(_ certificate: [UInt8]) -> [UInt8] {
        JSONValue.object([
            .init("hostname", .string("api.example.com")), .init("noted-hostname", .string("api.example.com")),
            .init("validation-result", .integer(1)),
            .init(
                "served-certificate-chain",
                .array([.string(PEMBlock(label: PEMBlock.certificateLabel, bytes: certificate).text)])),
            .init(
                "tumbler",
                .object([
                    .init("list-name", .string(SightingScene.name)), .init("list-version", .integer(1)),
                    .init("reason", .string("no-matching-pin")),
                ])),
        ]).bytes
    }

    @Test("an attested report that names the key makes it critical, one that is not attested does not")
    func attestedReportThatNamesTheKeyMakesItCritical() async throws {
        let (logged, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")]) { scene, _ in
            let certificate = try logged.certificate(for: ["api.example.com"], key: theirs)
            #expect(try await scene.states([(certificate, [])]) == ["unknown"])
            let report = try ReportText.report(
                chain: [certificate], [("noted-hostname", .string("api.example.com"))])
            for (state, severity) in [
                (AttestationState.unattested, Alarm.Severity.warning), (.attested, .critical),
            ] {
                let accepted = AcceptedReport(
                    report: report, group: ReportGroup(report, state), receivedAt: TurnedClock.start,
                    networks: NetworkCounter.Count(day: 1, networks: BoundedCount(1, isMore: false)), isSample: false,
                    isListed: true, attestation: ReportAttestation(state, of: SightingScene.name),
                    body: report.document)
                try await scene.service.store.write { try $0.add([accepted], countedBy: "a") }
                #expect(try await scene.alarms().map(\.severity) == [severity])
            }
            #expect(try await scene.alarms().first?.detail.contains("an attested report names this key") == true)
        }
    }

    @Test(
        "what is kept can be read page by page, with the issuers whose signatures hold; not without a token",
        arguments: TestedStore.all)
    func whatIsKeptCanBeReadPageByPage(on tested: TestedStore) async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        let issuer = try logged.issuer()
        try await SightingScene.with([try .pinned("api.example.com")], on: tested) { scene, _ in
            var expected: [String] = []
            for serial in 1...66 {
                let certificate = try logged.certificate(for: ["api.example.com"], key: key, serial: serial)
                // The chain of one is of another issuer: no signature of it holds.
                let stranger = try LoggedCertificates().issuer()
                expected.append(Base64.encode(certificate))
                #expect(try await scene.states([(certificate, [serial == 1 ? stranger : issuer])]) == ["unknown"])
            }
            struct Page: Decodable {
                struct Kept: Decodable {
                    let identity, state, der, serial, key: String
                    let issuerDER: String?
                }
                let name: String
                let certificates: [Kept]
                let next: String?
            }
            func page(_ query: String) async throws -> Page {
                let answer = try await scene.service.ask(
                    .GET, SightingScene.path + query, ["Authorization": "Bearer \(scene.token)"])
                #expect(answer.status == 200)
                return try JSONDecoder().decode(Page.self, from: Data(answer.body))
            }
            let first = try await page("")
            #expect(first.certificates.count == 64 && first.name == SightingScene.name)
            let next = try #require(first.next)
            let second = try await page("?after=\(next)")
            #expect(second.certificates.count == 2 && second.next == nil)
            let all = first.certificates + second.certificates
            #expect(all.map(\.der).sorted() == expected.sorted())
            #expect(all.filter { $0.issuerDER == nil }.map(\.serial) == ["01"])
            #expect(Set(all.compactMap(\.issuerDER)) == [Base64.encode(issuer)])
            #expect(try await page("?after=\(String(repeating: "f", count: 64))").certificates.isEmpty)
            for after in ["", "x'", String(repeating: "F", count: 64), String(repeating: "0", count: 65)] {
                let answer = try await scene.service.ask(
                    .GET, "\(SightingScene.path)?after=\(after)", ["Authorization": "Bearer \(scene.token)"])
                #expect(answer.status == 400 && answer.code == "malformed")
            }
            let other = try await scene.service.token(.probe, ["com.example.other"])
            for (token, status) in [("x", 401), (other, 403)] {
                let answer = try await scene.service.ask(
                    .GET, SightingScene.path, ["Authorization": "Bearer \(token)"])
                #expect(answer.status == status)
            }
        }
    }

    @Test("a group of failures says that its key was logged nine days ago, and is not in the list")
    func groupOfFailuresSaysThatItsKeyWasLoggedNineDaysAgoAndIsNotInTheList() async throws {
        let (logged, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")]) { scene, _ in
            let certificate = try logged.certificate(for: ["api.example.com"], key: theirs)
            let report = Self.report(certificate)
            #expect(try await scene.service.report(report).status == 202)
            let groups = try await scene.service.store.read { try $0.groups(GroupFilter(), newest: [:]) }
            let group = try #require(groups.first)
            #expect(group.leafPin == LoggedCertificates.pin(theirs).description)
            let before = try await scene.service.ask(.GET, "/failures/\(group.id)").text
            #expect(!before.contains("In the logs:"))
            #expect(try await scene.states([(certificate, [])], loggedAt: "2026-11-12T00:00:00Z") == ["unknown"])
            let page = try await scene.service.ask(.GET, "/failures/\(group.id)").text
            #expect(page.contains("In the logs:"))
            #expect(page.contains("This key was logged 9 days ago"))
            #expect(page.contains("and it is not in the list that is served."))
            #expect(try await scene.service.ask(.GET, "/certificates").text.contains("in reports from 1 network a day"))
        }
    }

    @Test("a rotation says of its new key when a log had it, and whether the list that is served has it")
    func rotationSaysOfItsNewKeyWhenALogHadItAndWhetherTheListThatIsServedHasIt() async throws {
        for isPinned in [true, false] {
            let (logged, new) = (LoggedCertificates(), P256.Signing.PrivateKey())
            let pin = LoggedCertificates.pin(new)
            let entry = try Self.entry("api.example.com", [RotationPlan.pin(9)] + (isPinned ? [pin] : []))
            try await SightingScene.with([entry]) { scene, _ in
                let host = try HostName("api.example.com")
                let plan = RotationPlan(
                    list: SightingScene.name, host: host, entries: [host], new: PlannedKey(pin),
                    old: [PlannedKey(RotationPlan.pin(9))], timeline: RotationTimeline(from: TurnedClock.start),
                    at: TurnedClock.start)
                let stored = try await scene.service.ask(
                    .PUT, "/v1/lists/\(SightingScene.name)/rotations/api.example.com",
                    ["Authorization": "Bearer \(scene.publisher)", "If-None-Match": "*"], plan.bytes)
                #expect(stored.status == 201, "\(stored.text)")
                let nothing = "no monitor told of a certificate with it"
                #expect(try await scene.service.ask(.GET, "/rotations").text.contains(nothing))
                let certificate = try logged.certificate(for: ["api.example.com"], key: new)
                let state = isPinned ? "backup" : "unknown"
                #expect(try await scene.states([(certificate, [])], loggedAt: "2026-11-12T00:00:00Z") == [state])
                let page = try await scene.service.ask(.GET, "/rotations").text
                #expect(page.contains("This key was logged 9 days ago"), "\(page)")
                let isIt = isPinned ? "It is in the list that is served." : "and it is not in the list that is served."
                #expect(page.contains(isIt) && !page.contains(nothing))
            }
        }
    }

    @Test("a body that is no request, no certificate or too large is refused, and nothing of it is stored")
    func bodyThatIsNoRequestNoCertificateOrTooLargeIsRefusedAndNothingOfItIsStored() async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")]) { scene, _ in
            let good = try logged.certificate(for: ["api.example.com"], key: key)
            func count() async throws -> Int {
                try await scene.service.store.read { try $0.sightings(of: SightingScene.name, limit: 100).count }
            }
            for body in [
                "", "{}", "[]", #"{"certificates": {}}"#, #"{"certificates": [{"der": "AAEC"}]}"#,
                LoggedCertificates.body([(good, []), (Array(good.dropLast()), [])]),
                LoggedCertificates.body(Array(repeating: (good, []), count: 65)),
                LoggedCertificates.body([(good, Array(repeating: good, count: 17))]),
            ] {
                let answer = try await scene.tell(body)
                #expect(answer.status == 400, "\(body.prefix(60))")
                #expect(answer.code == "malformed")
            }
            #expect(try await scene.tell(String(repeating: " ", count: 1_048_577)).status == 413)
            #expect(try await count() == 0)
            let body = LoggedCertificates.body([(good, [])])
            #expect(try await scene.tell(body, token: "x").status == 401)
            let reader = try await scene.service.token(.read)
            #expect(try await scene.tell(body, token: reader).status == 403)
            let foreign = try await scene.service.token(.probe, ["com.example.other"])
            #expect(try await scene.tell(body, token: foreign).status == 403)
            let other = try await scene.service.ask(
                .POST, "/v1/lists/com.example.other/sightings", ["Authorization": "Bearer \(foreign)"], Array(body.utf8)
            )
            #expect(other.status == 404)
            #expect(try await count() == 0)
            #expect(try await scene.tell(body, token: scene.publisher).status == 202)
            #expect(
                try await scene.tell(LoggedCertificates.body(Array(repeating: (good, []), count: 64))).status == 202)
            #expect(try await count() == 1)
        }
    }

    @Test(
        "a leaked token fills its own places: the monitor goes on, and what was told with it is forgotten by a command",
        arguments: TestedStore.all)
    func leakedTokenFillsItsOwnPlacesTheMonitorGoesOn(on tested: TestedStore) async throws {
        let (logged, flood) = (LoggedCertificates(), LoggedCertificates())
        let (ours, theirs, known) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let entry = try Self.entry("api.example.com", [LoggedCertificates.pin(ours)])
        try await SightingScene.with([entry], on: tested) { scene, _ in
            let (store, now) = (scene.service.store, scene.service.clock.now)
            let leaked = try await scene.service.token(.probe, [SightingScene.name])
            let id = try #require(AccessToken.id(of: leaked))
            func tell(
                _ certificates: LoggedCertificates, _ key: P256.Signing.PrivateKey, _ serial: Int, _ token: String
            ) async throws -> Int {
                let der = try certificates.certificate(for: ["api.example.com"], key: key, serial: serial)
                let body = LoggedCertificates.body([(der, [try certificates.issuer()])])
                return try await scene.tell(body, token: token).status
            }
            #expect(try await tell(flood, theirs, 1, leaked) == 202)
            try await scene.copy(upTo: 9_998)
            // What apps accept, and what a person has seen.
            #expect(try await tell(logged, ours, 2, leaked) == 202)
            #expect(try await tell(logged, known, 3, leaked) == 202)
            try await store.write { store in
                let seen = try store.sightings(of: SightingScene.name, key: LoggedCertificates.pin(known).description)
                try store.acknowledgeSighting(
                    of: SightingScene.name, identity: try #require(seen.first).identity,
                    .init(at: now, by: "0123", severity: "warning"))
            }
            #expect(try await tell(flood, theirs, 4, leaked) == 503)
            // The monitor finds what no app accepts, as before.
            #expect(try await tell(logged, theirs, 5, scene.token) == 202)
            try await scene.service.revoke(leaked)
            // With nothing but another token the monitor goes on that had the one that leaked.
            let next = try await scene.service.token(.probe, [SightingScene.name])
            #expect(try await tell(logged, theirs, 6, next) == 202)

            #expect(try await store.forgetSightings(toldBy: id, by: "cli", at: now) == 9_998)
            let kept = try await store.read { try $0.sightings(of: SightingScene.name, limit: 10) }
            #expect(kept.map(\.serialNumber).sorted() == ["02", "03", "05", "06"])
            let issuers = try await store.read {
                try $0.connection.rows("SELECT key FROM sighting_issuer", []).map { try $0.text(0) }
            }
            #expect(issuers == [LoggedCertificates.pin(logged.authority).description])
            #expect(try await scene.alarms().count == 2)
            #expect(try await store.forgetSightings(toldBy: id, by: "cli", at: now) == 0)
            #expect(try await scene.service.actions().filter { $0 == "sightings-forget" }.count == 1)
        }
    }

    @Test(
        "beyond 10,000 of a token nothing more is taken but what is known already; the end and two years make room",
        arguments: TestedStore.all)
    func beyond10000OfATokenNothingMoreIsTakenButWhatIsKnownAlready(on tested: TestedStore) async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")], on: tested) { scene, _ in
            let first = try logged.certificate(for: ["api.example.com"], key: key)
            #expect(try await scene.states([(first, [])]) == ["unknown"])
            try await scene.copy(upTo: 10_000)
            let second = try logged.certificate(for: ["api.example.com"], key: key, days: 20, serial: 8)
            let answer = try await scene.tell(LoggedCertificates.body([(second, [])]))
            #expect(answer.status == 503)
            #expect(answer.code == "too-many-sightings")
            #expect(answer.headers["retry-after"] == ["86400"])
            #expect(try await scene.states([(first, [])]) == ["unknown"])
            // No page and no alarm is made of all of them.
            #expect(try await scene.alarms().count == SightingOverview.maximum + 1)
            let page = try await scene.service.ask(.GET, "/certificates").text
            #expect(
                page.components(separatedBy: "<td data-label=\"State\">").count == CertificatesPage.maximumCertificates
                    + 1
            )
            #expect(page.contains("9,700 older ones are not shown"))
            let retention = Retention(
                store: scene.service.store, limits: ServiceConfiguration.Retention(), clock: scene.service.clock,
                logger: RunningService.silent)
            // The clock is believed: days of looks have passed.
            func lookAfter(days: Int64) async throws {
                scene.service.clock.turn(by: days * 86_400)
                let now = scene.service.clock.now
                try await scene.service.store.write(as: .leases) { try $0.put(BelievedTime(now)) }
                await retention.look()
            }
            try await lookAfter(days: 119)
            #expect(try await scene.tell(LoggedCertificates.body([(second, [])])).status == 503)
            try await lookAfter(days: 2)
            let third = try logged.certificate(for: ["api.example.com"], key: key, days: 3_000, serial: 9)
            #expect(try await scene.states([(third, [])]) == ["unknown"])
            try await lookAfter(days: 729)
            #expect(try await scene.states([(third, [])]) == ["unknown"])
            try await lookAfter(days: 2)
            #expect(try await scene.service.store.read { try $0.sightings(of: SightingScene.name, limit: 9) }.isEmpty)
        }
    }

    @Test("names and issuers that are made of markup are text on the page, in the status and in the alarm")
    func namesAndIssuersThatAreMadeOfMarkupAreText() async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        try await SightingScene.with([try .pinned("api.example.com")]) { scene, _ in
            let hostile = "<script>alert(1)</script>\u{7}x.example"
            let certificate = try logged.certificate(for: ["api.example.com", hostile], key: key, subject: "<b>")
            #expect(try await scene.states([(certificate, [])]) == ["unknown"])
            let page = try await scene.service.ask(.GET, "/certificates").text
            #expect(page.contains("&lt;script&gt;"))
            #expect(!page.contains("<script>alert"))
            #expect(!page.contains("\u{7}"))
            let alarm = try #require(try await scene.alarms().first)
            #expect(!alarm.detail.contains("\u{7}"))
            let hosts = try await scene.service.ask(.GET, "/hosts").text
            #expect(hosts.contains("1 certificate in logs"))
            #expect(hosts.contains("and it is not in the list that is served"))
            #expect(try await scene.service.ask(.GET, "/certificates?host=api.example.com").text.contains("All hosts"))
            #expect(try await scene.service.ask(.GET, "/certificates?host=%00").text.contains("No monitor has handed"))
        }
    }
}
