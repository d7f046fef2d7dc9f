// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import NIOConcurrencyHelpers
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Keys of installations, and reports that they sign", .runsPostgreSQL)
struct AttestedReportTests {
    private let authority: SimulatedAttestationAuthority

    init() throws { self.authority = try SimulatedAttestationAuthority(at: TurnedClock.start) }

    @Test("a key is registered once, and what it signs is attested", arguments: TestedStore.all)
    func keyIsRegisteredOnceAndWhatItSignsIsAttested(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                for form in [SimulatedAttestedKey.Form.plain, .extended(category: 4, version: "4.2")] {
                    var installation = AttestedInstallation(authority, form: form)
                    let challenge = try await AttestedInstallation.challenge(service)
                    let body = try installation.registration(challenge)
                    #expect(try await service.ask(.POST, "/v1/attest/keys", [:], body).status == 201)
                    #expect(try await service.ask(.POST, "/v1/attest/keys", [:], body).status == 200)
                    // Another attestation of the same key, and the same one for another list.
                    let again = try installation.registration(challenge)
                    #expect(try await service.ask(.POST, "/v1/attest/keys", [:], again).status == 403)
                    let answer = try await installation.report(to: service)
                    #expect(answer.status == 202)
                    #expect(answer.headers["tumbler-attestation"].isEmpty)
                    // The next report needs no second request.
                    let next = try #require(
                        answer.headers["tumbler-challenge"].first.flatMap { Base64.decode($0.utf8) })
                    let field = try installation.assertion(over: ReportText.body(), next)
                    #expect(try await service.report(ReportText.body(), ["Tumbler-Assertion": field]).status == 202)
                }
                #expect(try await AttestedService.states(store) == ["attested 0 4"])
            }
            let lines = try await store.read { store in
                try store.exportRows(
                    after: 0, since: TurnedClock.start, until: Timestamp(secondsSince1970: .max), limit: 9)
            }.map { String(decoding: ReportExport.jsonl.line($0), as: UTF8.self) }
            #expect(lines.allSatisfy { $0.contains(#""attestation":"attested""#) })
            let kept = try await store.read { store in
                try store.connection.rows(
                    "SELECT counter, category, bundle_version, receipt FROM attested_key ORDER BY category", []
                )
                .map { row in (try row.integer(0), try row.optionalInteger(1), row.values[3]) }
            }
            #expect(kept.map(\.0) == [2, 2])
            #expect(Set(kept.map(\.1)) == [nil, 4])
            // Not the receipt: that was not configured.
            #expect(kept.allSatisfy { $0.2 == .null })
        }
    }

    @Test(
        "a report whose key cannot be looked up now comes again, and is attested then: none is stored as unattested for it"
    )
    func reportWhoseKeyCannotBeLookedUpNowComesAgainAndIsAttestedThen() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await AttestedService.with(store, authority) { service in
                var installation = AttestedInstallation(authority)
                let challenge = try await AttestedInstallation.challenge(service)
                let body = try installation.registration(challenge)
                #expect(try await service.ask(.POST, "/v1/attest/keys", [:], body).status == 201)
                let field = try installation.assertion(over: ReportText.body(), challenge)
                let fields: HTTPHeaders = ["Tumbler-Assertion": field]
                store.strangersFailure = StoreError(.busy, "128 calls wait for the database already")
                let answer = try await service.report(ReportText.body(), fields)
                #expect(answer.status == 503)
                #expect(answer.code == "store-busy")
                #expect(answer.headers["retry-after"].first.flatMap { Int64($0) } ?? 0 > 0)
                #expect(try await AttestedService.states(store) == [])
                store.strangersFailure = nil
                #expect(try await service.report(ReportText.body(), fields).status == 202)
                #expect(try await AttestedService.states(store) == ["attested 0 1"])
                // What a person has to mend turns no report away.
                store.strangersFailure = StoreError(.damaged, "a key is not 32 bytes")
                let next = try installation.assertion(over: ReportText.body(), challenge)
                #expect(try await service.report(ReportText.body(), ["Tumbler-Assertion": next]).status == 202)
                #expect(try await AttestedService.states(store) == ["attested 0 1", "unattested 0 1"])
            }
        }
    }

    @Test("an attestation is refused with its step, and nothing of it is kept")
    func attestationIsRefusedWithItsStepAndNothingOfItIsKept() async throws {
        let (authority, other) = (self.authority, try SimulatedAttestationAuthority(at: TurnedClock.start))
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                func step(_ body: [UInt8]) async throws -> Int64? {
                    let answer = try await service.ask(.POST, "/v1/attest/keys", [:], body)
                    #expect(answer.status == 403)
                    #expect(answer.code == "attestation-refused")
                    guard case .object(let members)? = try? JSONValue(strict: answer.body),
                        case .integer(let step)? = members.first(where: { $0.name == "step" })?.value
                    else { return nil }
                    return step
                }
                let challenge = try await AttestedInstallation.challenge(service)
                #expect(try await step(AttestedInstallation(other).registration(challenge)) == 1)
                var changed = challenge
                changed[20] ^= 1
                #expect(try await step(AttestedInstallation(authority).registration(changed)) == 2)
                #expect(
                    try await step(AttestedInstallation(authority, appID: "ABCDE12345.a").registration(challenge)) == 6)
                let development = AttestedInstallation(authority, form: .extended(category: 3, version: "1"))
                #expect(try await step(development.registration(challenge)) == 10)
                // A challenge lasts ten minutes, and no longer.
                service.clock.turn(by: 600)
                #expect(try await step(AttestedInstallation(authority).registration(challenge)) == 2)
                let none = AttestedInstallation(authority)
                #expect(
                    try await service.ask(.POST, "/v1/attest/keys", [:], none.registration(challenge, name: "b")).status
                        == 404)
                for body in ["", "{}", "[]", #"{"name": "com.example.app", "keyId": "AA=="}"#] {
                    let answer = try await service.ask(.POST, "/v1/attest/keys", [:], Array(body.utf8))
                    #expect(answer.status == 400, "\(body)")
                }
                let large = try await service.ask(.POST, "/v1/attest/keys", [:], [UInt8](repeating: 32, count: 98_305))
                #expect(large.status == 413)
            }
            let count = try await store.read {
                try $0.connection.rows("SELECT COUNT(*) FROM attested_key", []).first?.integer(0)
            }
            #expect(count == 0)
        }
    }

    @Test("no report is lost for want of an assertion, with anything in the field", arguments: TestedStore.all)
    func noReportIsLostForWantOfAnAssertionWithAnythingInTheField(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                let body = ReportText.body()
                var stranger = AttestedInstallation(authority)
                let challenge = try await AttestedInstallation.challenge(service)
                let unknown = try await stranger.report(to: service)
                #expect(unknown.status == 202)
                #expect(unknown.headers["tumbler-attestation"] == ["unknown-key"])
                var known = AttestedInstallation(authority)
                #expect(try await known.register(at: service).status == 201)
                let otherBody = try known.assertion(over: ReportText.body([("port", .integer(1))]), challenge)
                var forged = challenge
                forged[31] ^= 1
                let otherChallenge = try known.assertion(over: body, forged)
                let otherName = try known.assertion(over: body, challenge, name: "b")
                for field in [
                    nil, "", "nonsense", "e30=", Base64.encode(Array(#"{"keyId":1}"#.utf8)),
                    String(repeating: "A", count: 8_000), otherBody, otherName, otherChallenge,
                ] {
                    let answer = try await service.report(body, field.map { ["Tumbler-Assertion": $0] } ?? [:])
                    #expect(answer.status == 202)
                    #expect(answer.headers["tumbler-challenge"].count == 1)
                }
                #expect(
                    Set(try await AttestedService.states(store)) == [
                        "unattested 0 7", "unattested 3 2", "unattested 6 1",
                    ])
            }
        }
    }

    @Test("a report that names no list, or another one, is unattested where its host belongs to a list that asks")
    func reportThatNamesNoListOrAnotherOneIsUnattestedWhereItsHostBelongsToAListThatAsks() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service async throws in
                for (list, host) in [("", "example.com"), ("b", "example.com"), ("b", "other.example")] {
                    let ours = JSONValue.object([
                        .init("list-name", .string(list)), .init("reason", .string("no-matching-pin")),
                    ])
                    let body = ReportText.body([("tumbler", ours), ("noted-hostname", .string(host))])
                    #expect(try await service.report(body).status == 202)
                }
                #expect(try await AttestedService.states(store) == ["not asked 0 1", "unattested 0 2"])
            }
        }
    }

    @Test("a replayed attestation and a replayed assertion are refused at every instance", arguments: TestedStore.all)
    func replayedAttestationAndAReplayedAssertionAreRefusedAtEveryInstance(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let (first, second) = (try open(), try open())
            try await AttestedService.with(first, authority) { one in
                try await AttestedService.with(second, authority, clock: one.clock) { two in
                    var installation = AttestedInstallation(authority)
                    // A challenge of one instance holds at the other.
                    let challenge = try await AttestedInstallation.challenge(one)
                    let registration = try installation.registration(challenge)
                    #expect(try await two.ask(.POST, "/v1/attest/keys", [:], registration).status == 201)
                    let body = ReportText.body()
                    let field = try installation.assertion(over: body, challenge)
                    let answers = try await [
                        one.report(body, ["Tumbler-Assertion": field]), two.report(body, ["Tumbler-Assertion": field]),
                        one.report(body, ["Tumbler-Assertion": field]),
                    ]
                    #expect(answers.map(\.status) == [202, 202, 202])
                    #expect(try await AttestedService.states(first) == ["attested 0 1", "unattested 5 2"])
                    // The attestation brings no counter back.
                    #expect(try await one.ask(.POST, "/v1/attest/keys", [:], registration).status == 200)
                    #expect(try await two.report(body, ["Tumbler-Assertion": field]).status == 202)
                    #expect(try await AttestedService.states(first) == ["attested 0 1", "unattested 5 3"])
                    // Forgotten keys cannot be had back with what was recorded.
                    _ = try await first.write { try $0.connection.execute("DELETE FROM attested_key", []) }
                    one.clock.turn(by: 600)
                    for service in [one, two] {
                        #expect(try await service.ask(.POST, "/v1/attest/keys", [:], registration).status == 403)
                    }
                }
            }
        }
    }

    @Test(
        "a restored backup that is behind takes what is newer, asks who came later for a new key, and lets a thief in for ten minutes at most",
        arguments: TestedStore.all)
    func restoredBackupThatIsBehindTakesWhatIsNewer(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                let body = ReportText.body()
                var early = AttestedInstallation(authority)
                var late = AttestedInstallation(authority, at: "192.0.3.1")
                #expect(try await early.register(at: service).status == 201)
                #expect(try await early.report(to: service).status == 202)
                // The backup is made here.
                let challenge = try await AttestedInstallation.challenge(service)
                let recorded = try early.assertion(over: body, challenge)
                #expect(try await service.report(body, ["Tumbler-Assertion": recorded]).status == 202)
                #expect(try await late.register(at: service).status == 201)
                #expect(try await late.report(to: service).status == 202)
                #expect(try await AttestedService.states(store) == ["attested 0 3"])
                let lateID = late.key.keyID
                _ = try await store.write { store in
                    try store.connection.execute("DELETE FROM attested_key WHERE key_id = ?", [.blob(lateID)])
                    try store.connection.execute("UPDATE attested_key SET counter = 1", [])
                }
                let unknown = try await late.report(to: service)
                #expect(unknown.headers["tumbler-attestation"] == ["unknown-key"])
                #expect(try await AttestedService.states(store) == ["attested 0 3", "unattested 0 1"])
                // What was recorded after the backup holds again until its challenge is over.
                #expect(try await service.report(body, ["Tumbler-Assertion": recorded]).status == 202)
                #expect(try await service.report(body, ["Tumbler-Assertion": recorded]).status == 202)
                #expect(
                    try await AttestedService.states(store) == ["attested 0 4", "unattested 0 1", "unattested 5 1"])
                _ = try await store.write { store in
                    try store.connection.execute("UPDATE attested_key SET counter = 1", [])
                }
                service.clock.turn(by: 600)
                #expect(try await service.report(body, ["Tumbler-Assertion": recorded]).status == 202)
                // The device has counted on.
                let next = try await early.report(to: service)
                #expect(next.headers["tumbler-attestation"].isEmpty)
                #expect(
                    try await AttestedService.states(store) == [
                        "attested 0 5", "unattested 0 1", "unattested 5 1", "unattested 6 1",
                    ])
            }
        }
    }

    @Test("challenges cost what reports cost, and store nothing")
    func challengesCostWhatReportsCostAndStoreNothing() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority, burst: 20) { service in
                var statuses: [Int: Int] = [:]
                for _ in 0..<40 {
                    statuses[try await service.ask(.POST, "/v1/attest/challenges", [:]).status, default: 0] += 1
                }
                #expect(statuses == [201: 20, 429: 20])
                // Others have what is theirs.
                let other = try await service.ask(
                    .POST, "/v1/attest/challenges", ["X-Forwarded-For": "198.51.100.1"])
                #expect(other.status == 201)
                let rows = try await store.read {
                    try $0.connection.rows("SELECT COUNT(*) FROM attestation_secret", []).first?.integer(0)
                }
                #expect(rows == 1)
            }
        }
    }

    @Test("all that ask at midnight wait for one transaction, and one that failed is made again")
    func allThatAskAtMidnightWaitForOneTransactionAndOneThatFailedIsMadeAgain() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let gate = GatedStore(try open())
            let store = WrappedStore(gate)
            let challenges = AttestationChallenges(store: store)
            let asked = NIOLockedValueBox(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        asked.withLockedValue { $0 += 1 }
                        _ = try await challenges.make(at: TurnedClock.start)
                    }
                }
                await gate.untilWriting()
                while asked.withLockedValue({ $0 }) < 50 { await Task.yield() }
                gate.open()
                try await group.waitForAll()
            }
            #expect(store.writes == 1)
            let tomorrow = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 86_400)
            store.failure = StoreError(.full, "the disk is full")
            await #expect(throws: StoreError.self) { _ = try await challenges.make(at: tomorrow) }
            store.failure = nil
            _ = try await challenges.make(at: tomorrow)
            #expect(store.writes == 3)
        }
    }

    @Test("challenges hold over midnight, and end after ten minutes", arguments: TestedStore.all)
    func challengesHoldOverMidnightAndEndAfterTenMinutes(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let clock = TurnedClock()
            clock.turn(by: 86_400 - 60)
            let here = AttestationChallenges(store: try open())
            let challenge = try await here.make(at: clock.now).bytes
            #expect(challenge.count == 32)
            clock.turn(by: 540)
            // An instance that has the secret from the database alone.
            let there = AttestationChallenges(store: try open())
            #expect(try await there.holds(challenge, at: clock.now))
            _ = try await there.make(at: clock.now)
            #expect(try await there.holds(challenge, at: clock.now))
            for index in challenge.indices {
                var changed = challenge
                changed[index] ^= 1
                #expect(try await !there.holds(changed, at: clock.now))
            }
            clock.turn(by: 60)
            #expect(try await !there.holds(challenge, at: clock.now))
            #expect(try await !there.holds([], at: clock.now))
        }
    }

    @Test("keys that were not used for as long as reports are kept are forgotten, and so are old counts and secrets")
    func keysThatWereNotUsedForAsLongAsReportsAreKeptAreForgotten() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service async throws in
                var installation = AttestedInstallation(authority)
                #expect(try await installation.register(at: service).status == 201)
                #expect(try await installation.report(to: service).status == 202)
                func look(after days: Int64) async throws -> [Int64?] {
                    service.clock.set(Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + days * 86_400))
                    let now = service.clock.now
                    try await store.write(as: .leases) { try $0.put(BelievedTime(now)) }
                    await Retention(
                        store: store, instance: "r", limits: .init(days: 90), clock: service.clock,
                        logger: RunningService.silent
                    ).look()
                    return try await store.read { store in
                        try ["attested_key", "attestation_secret", "attestation_hour", "attested_witness"].map {
                            try store.connection.rows("SELECT COUNT(*) FROM \($0)", []).first?.integer(0)
                        }
                    }
                }
                #expect(try await look(after: 0) == [1, 1, 1, 1])
                #expect(try await look(after: 29) == [1, 0, 1, 0])
                #expect(try await look(after: 89) == [1, 0, 0, 0])
                #expect(try await look(after: 91) == [0, 0, 0, 0])
            }
        }
    }
}
