// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import PinListMetadata
import PinRotation
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// What happened at a service of an earlier day. `Tests/Fixtures/make` brought it about with the programs of that day:
/// keys were stolen, a certificate was logged, rotations ended, people acknowledged and revoked.
@Suite("Alarms, evidence and plans that earlier services kept", .runsPostgreSQL)
struct KeptDeedsTests {
    private static let name = "com.example.app"

    @Test(
        "alarms, messages, notifications, silences and what a person has seen are there, and go on",
        arguments: KeptDatabase.released, TestedStore.all)
    func alarmsMessagesNotificationsSilencesAndWhatAPersonHasSeenAreThereAndGoOn(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let (firing, ended, messages) = try await store.read {
                (try $0.firingAlarms(), try $0.endedAlarms(limit: 100), try $0.alarmMessages())
            }
            let alarm = try #require(firing.first { $0.kind == "equivocation" })
            #expect(alarm.key.hasPrefix("equivocation:\(Self.name):"))
            #expect(alarm.detail.hasPrefix("Signers signed a list that was never published here: \(Self.name)"))
            #expect(alarm.severity == "critical" && alarm.told == "critical" && alarm.endedAt == nil)
            let seen = try #require(alarm.acknowledgement)
            #expect(seen.by.hasSuffix(#""pager" (bob)"#) && seen.at >= alarm.since)
            let message = try #require(messages.first { $0.number == alarm.message })
            #expect([message.key, message.kind, message.severity] == [alarm.key, "equivocation", "critical"])
            #expect(message.begunAt == alarm.since && message.nextAt == alarm.since.before(-AlarmEvaluation.settling))
            let over = try #require(ended.first { $0.kind == "unexpected-certificate" })
            #expect(over.key.hasPrefix("unexpected-certificate:localhost:\(Self.name):"))
            #expect(over.severity == "warning" && over.message == nil)
            #expect(try #require(over.endedAt) > over.since)

            let (waiting, deliveries, targets, silences) = try await store.read {
                (
                    try $0.notifications(to: "hook", before: .max), try $0.deliveries(), try $0.targets(),
                    try $0.silences(at: alarm.since.before(120))
                )
            }
            let told = waiting.compactMap { AlarmEvent($0) }
            #expect(told.count == waiting.count && told.allSatisfy { $0.auditHead.count == 64 })
            let wanted = [
                "firing \(alarm.key)", "acknowledged \(alarm.key)", "acknowledged \(over.key)", "recovered \(over.key)",
            ]
            #expect(Set(wanted).isSubset(of: told.map { "\($0.phase.rawValue) \($0.key)" }))
            #expect(deliveries.mapValues(\.trouble) == ["hook": "it cannot be reached"])
            #expect(targets.map(\.name) == ["hook"] && targets.first?.waiting == Int64(waiting.count))
            #expect(targets.first?.seenAt != nil)
            let silence = try #require(silences.first)
            #expect([silence.what, silence.reason] == ["silence", "a fixture"] && silence.severity == .warning)
            #expect(silence.madeBy == seen.by && silence.endsAt == silence.madeAt.before(-3_600))

            // When all is well again, what was told of ends under the same key.
            let events = try await store.write {
                try AlarmEvaluation(targets: ["hook"]).apply([], in: $0, auditHead: "", at: seen.at.before(-7_200))
            }
            #expect(events.contains { $0.phase == .recovered && $0.key == alarm.key && $0.severity == "critical" })
            #expect(try await store.read { try $0.firingAlarms() } == [])
        }
    }

    @Test(
        "evidence of that day still proves that keys were stolen, and is not taken a second time",
        arguments: KeptDatabase.released, TestedStore.all)
    func evidenceOfThatDayStillProvesThatKeysWereStolenAndIsNotTakenASecondTime(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let (rows, roots, list, log) = try await store.read { store in
                (
                    try store.connection.rows("SELECT digest, name, envelope FROM evidence", [])
                        .map { (digest: try $0.text(0), name: try $0.text(1), envelope: try $0.blob(2)) },
                    try store.roots(of: Self.name), try store.list(of: Self.name),
                    try store.auditEntries(from: 1, limit: 1_000)
                )
            }
            #expect(rows.map(\.name) == [Self.name])
            let row = try #require(rows.first)
            let payload = try Envelope(row.envelope, of: .pins, limits: MetadataLimits()).payload
            #expect(Envelope.digest(of: payload) == row.digest)
            let published = try Envelope(try #require(list), of: .pins, limits: MetadataLimits()).payload
            #expect(payload != published)
            // As a client that was offered it verified it.
            var state = try TrustState(bundledRoot: try #require(roots.first), bundledList: nil)
            for root in roots.dropFirst() { try state.load(root: root) }
            try state.load(list: row.envelope)
            #expect(state.inForce?.held.list.version == 2)
            let entry = try #require(log.first { $0.action == "equivocation" })
            #expect(entry.actor == "report" && entry.detail.hasSuffix(row.digest))
            #expect(try await store.read { try $0.hasEvidence(row.digest) })
            try await store.write { try $0.addEvidence(row.digest, of: "another", [], at: entry.time) }
            #expect(try await store.lines("SELECT name FROM evidence") == [Self.name])
        }
    }

    @Test(
        "certificates in logs are there, with who has seen which, and their issuers",
        arguments: KeptDatabase.released, TestedStore.all)
    func certificatesInLogsAreThereWithWhoHasSeenWhichAndTheirIssuers(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let (sightings, counts, publications) = try await store.read {
                (
                    try $0.sightings(of: Self.name, limit: 10), try $0.sightingCounts(of: Self.name),
                    try $0.publications(of: Self.name, limit: 1)
                )
            }
            #expect(counts == [.pinned: 1, .issuer: 1, .unknown: 1, .unlisted: 1])
            let logged = try Timestamp("2026-11-20T00:00:00Z")
            for sighting in sightings {
                #expect(sighting.host == "localhost" && sighting.isEnforced && !sighting.isPrecertificate)
                #expect(sighting.log == "First" && sighting.loggedAt == logged)
                #expect(sighting.list == publications.first?.digest)
                #expect(sighting.toldBy.hasSuffix(#""ci" (ann)"#) && sighting.notAfter > sighting.firstAt)
            }
            let pinned = try #require(sightings.first { $0.state == .pinned })
            #expect(pinned.servedAt != nil && pinned.names == ["localhost", "api.example.com"])
            let issued = try #require(sightings.first { $0.state == .issuer })
            #expect(issued.issuers == [pinned.key] && issued.issuer == "CN=pinned" && issued.names == ["localhost"])
            #expect(try await store.lines("SELECT name, key FROM sighting_issuer") == ["\(Self.name) \(pinned.key)"])
            let unknown = try #require(sightings.first { $0.state == .unknown })
            #expect(unknown.issuer == "CN=stranger" && unknown.servedAt == nil)
            let seen = try #require(unknown.acknowledgement)
            #expect(seen.by.hasSuffix(#""pager" (bob)"#) && seen.severity == "warning" && seen.at >= unknown.firstAt)
            #expect(sightings.filter { $0.acknowledgement != nil }.count == 1)
        }
    }

    @Test(
        "rotations that ended, that were aborted and forced are there with each of their steps",
        arguments: KeptDatabase.released, TestedStore.all)
    func rotationsThatEndedThatWereAbortedAndForcedAreThereWithEachOfTheirSteps(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let stored = try await kept.open().read { try $0.rotations() }
            let overviews = stored.map { RotationOverview($0) }
            #expect(
                overviews.map { "\($0.host) \($0.state) \($0.isOpen)" } == [
                    "localhost planned true", "done.example.com retired false", "dropped.example.com aborted false",
                    "forced.example.com ready true",
                ])
            let plans = try overviews.dropFirst().map { try #require($0.plan) }
            try #require(plans.count == 3)
            #expect(
                plans.map { plan in plan.steps.map { "\($0.state.rawValue) \($0.version ?? 0)" } } == [
                    ["planned 0", "announced 2", "ready 0", "switched 0", "retired 6"],
                    ["planned 0", "announced 3", "aborted 5"], ["planned 0", "announced 4", "ready 0"],
                ])
            #expect(plans[1].lastStep.reason == "the CA refuses its key")
            #expect(plans[2].forcedSteps.map(\.forced) == ["incident 4711"])
            // 59 days, of which the new key was served for 27.
            let done = plans[0]
            let switched = try #require(done.entered(.switched))
            #expect(
                done.steps.map { ($0.at.secondsSince1970 - done.steps[0].at.secondsSince1970) / 86_400 } == [
                    0, 0, 31, 32, 59,
                ])
            #expect(done.sightings?.newEverywhereSince == switched && done.sightings?.oldNowhereSince == switched)
            #expect(done.new.kept == "HSM: slot 3" && done.new.heldBy == ["Ann"])
        }
    }

    @Test(
        "tokens that were revoked, that end, and a probe that did not get through are there",
        arguments: KeptDatabase.released, TestedStore.all)
    func tokensThatWereRevokedThatEndAndAProbeThatDidNotGetThroughAreThere(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let (tokens, probes) = try await store.read { (try $0.tokens(), try $0.probes()) }
            #expect(
                tokens.map { "\($0.label) \($0.owner) \($0.scope.rawValue) \($0.names.joined(separator: " "))" } == [
                    "former ann read ", "wall bob read ", "desk bob read ", "ci ann publish \(Self.name)",
                    "pager bob operate ", "contractor dave read ", "hybrid carol publish com.example.hybrid",
                    "rotated carol publish com.example.rotated",
                ])
            #expect(tokens.allSatisfy { $0.hash.count == 32 })
            let former = try #require(tokens.first)
            #expect(former.madeAt == (try Timestamp("2025-07-03T12:00:00Z")))
            #expect(former.revokedAt == (try Timestamp("2025-07-30T12:00:00Z")))
            let contractor = try #require(tokens.first { $0.label == "contractor" })
            #expect(contractor.endsAt == contractor.madeAt.before(-90 * 86_400))
            #expect(tokens.filter { $0.revokedAt != nil || $0.endsAt != nil }.count == 2)
            let missed = try #require(probes.first { $0.host == "api.example.com" })
            #expect(missed.isOK && missed.miss?.why.contains("the connection was refused") == true)
            #expect(try #require(missed.miss?.at) >= missed.at)
            #expect(probes.filter { $0.host == "localhost" }.map(\.miss) == [nil])
            #expect(try await store.lines("SELECT COUNT(*) FROM login_code") == ["1"])
        }
    }
}
