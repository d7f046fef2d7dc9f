// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Plans of rotations over HTTP", .runsPostgreSQL)
struct RotationRequestTests {
    private static let list = "/v1/lists/com.example.app/rotations"
    private static let path = "/v1/lists/com.example.app/rotations/api.example.com"

    private func run(
        _ tested: TestedStore = .sqlite, _ body: @Sendable (RunningService, _ publish: String) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.story([
            try .pinned("api.example.com"), try .pinned("two.example.com"),
        ])
        try await tested.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                try await body(service, try await service.token(.publish, ["com.example.app"]))
            }
        }
    }

    private static func put(
        _ service: RunningService, _ plan: [UInt8], _ token: String?, _ condition: HTTPHeaders,
        _ path: String = Self.path
    ) async throws -> RunningService.Answer {
        let fields: HTTPHeaders = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try await service.ask(.PUT, path, fields + condition.map { ($0.name, $0.value) }, plan)
    }

    @Test(
        "a first plan is stored, read as it was pushed, and replaced by who has seen it; the log says who and what",
        arguments: TestedStore.all)
    func firstPlanIsStoredReadAsItWasPushedAndReplacedByWhoHasSeenIt(on tested: TestedStore) async throws {
        try await self.run(tested) { service, token in
            #expect(try await service.ask(.GET, Self.path).status == 404)
            let first = try RotationPlan.story().bytes + [UInt8(ascii: "\n")]
            let stored = try await Self.put(service, first, token, ["If-None-Match": "*"])
            let tag = "\"\(Envelope.digest(of: first))\""
            #expect(stored.status == 201)
            #expect(stored.headers["etag"] == [tag])
            let read = try await service.ask(.GET, Self.path)
            #expect(read.status == 200)
            #expect(read.body == first)
            #expect(read.headers["etag"] == [tag])
            let reader: HTTPHeaders = [
                "Authorization": "Bearer \(try await service.token(.read))", "If-None-Match": tag,
            ]
            #expect(try await service.ask(.GET, Self.path, reader).status == 304)
            // A proxy that compresses has made the tag weak; it names the same bytes.
            var forced = try RotationPlan.story("api.example.com", [.announced])
            try forced.enter(
                RotationStep(
                    .ready, at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 9 * 86_400),
                    forced: "the key leaked"))
            let changed = try await Self.put(service, forced.bytes, token, ["If-Match": "W/\(tag)"])
            #expect(changed.status == 200)
            let all = try await service.ask(.GET, Self.list)
            #expect(all.status == 200)
            #expect(all.text.contains(#""host":"api.example.com""#))
            #expect(all.text.contains(#""state":"ready""#))
            let entries = try await service.store.read { try $0.auditEntries(from: 3, limit: 9) }
            let id = AccessToken.id(of: token) ?? ""
            #expect(entries.map(\.actor) == [id, id])
            #expect(entries.map(\.action) == ["rotation", "rotation"])
            #expect(
                entries.last?.detail
                    == "com.example.app: api.example.com ready since 2026-11-30T00:00:00Z, forced: the key leaked, "
                    + "plan " + Envelope.digest(of: forced.bytes))
        }
    }

    @Test("a plan that went back is taken as it is, with what the gate said: the alarm is made from it")
    func planThatWentBackIsTakenAsItIsWithWhatTheGateSaidTheAlarmIsMadeFromIt() async throws {
        try await self.run { service, token in
            var plan = try RotationPlan.story("api.example.com", [.announced, .ready])
            let before = plan.bytes
            let at = Timestamp(secondsSince1970: plan.since.secondsSince1970 + 1)
            try plan.enter(RotationStep(.announced, at: at, reason: "12 % refuse it"))
            #expect(try await Self.put(service, before, token, ["If-None-Match": "*"]).status == 201)
            let tag = "\"\(Envelope.digest(of: before))\""
            #expect(try await Self.put(service, plan.bytes, token, ["If-Match": tag]).status == 200)
            let stored = try await service.store.read { try $0.rotations(of: "com.example.app") }
            #expect(stored.map(\.bytes) == [plan.bytes])
            let read = try RotationPlan(json: try #require(stored.first).bytes)
            #expect(read.state == .announced && read.lastStep.reason == "12 % refuse it")
        }
    }

    @Test("of two who change a plan the slower one is told, and nothing is lost", arguments: TestedStore.all)
    func ofTwoWhoChangeAPlanTheSlowerOneIsToldAndNothingIsLost(on tested: TestedStore) async throws {
        try await self.run(tested) { service, token in
            let first = try RotationPlan.story().bytes
            let tag = "\"\(Envelope.digest(of: first))\""
            #expect(try await Self.put(service, first, token, ["If-Match": tag]).status == 412)
            #expect(try await Self.put(service, first, token, ["If-Match": "*"]).status == 412)
            #expect(try await Self.put(service, first, token, ["If-None-Match": "*"]).status == 201)
            let again = try await Self.put(service, first, token, ["If-None-Match": "*"])
            #expect(again.status == 412)
            #expect(again.headers["etag"] == [tag])
            let (one, other) = (
                try RotationPlan.story("api.example.com", [.announced]).bytes,
                try RotationPlan.story("api.example.com", [.aborted]).bytes
            )
            async let left = Self.put(service, one, token, ["If-Match": tag])
            async let right = Self.put(service, other, token, ["If-Match": tag])
            let statuses = [try await left.status, try await right.status]
            #expect(statuses.sorted() == [200, 412])
            let winner = statuses == [200, 412] ? one : other
            #expect(try await service.ask(.GET, Self.path).body == winner)
            #expect(try await service.actions() == ["publish", "publish", "rotation", "rotation"])
        }
    }

    @Test("without a condition nothing is stored, with anything else in the request")
    func withoutAConditionNothingIsStoredWithAnythingElseInTheRequest() async throws {
        try await self.run { service, token in
            let plan = try RotationPlan.story().bytes
            for fields in [[:], ["If-None-Match": "\"a\""], ["If-None-Match": ""]] as [HTTPHeaders] {
                let answer = try await Self.put(service, plan, token, fields)
                #expect(answer.status == 428, "\(fields)")
                #expect(answer.code == "precondition-required")
            }
            #expect(try await Self.put(service, plan, token, ["If-Match": "nonsense"]).status == 400)
            #expect(try await service.ask(.GET, Self.path).status == 404)
        }
    }

    @Test("a body that is no plan, another host's, another list's, or of no entry is refused, and nothing is stored")
    func bodyThatIsNoPlanAnotherHostsAnotherListsOrOfNoEntryIsRefusedAndNothingIsStored() async throws {
        try await self.run { service, token in
            let plan = String(decoding: try RotationPlan.story().bytes, as: UTF8.self)
            let new: HTTPHeaders = ["If-None-Match": "*"]
            for (body, code) in [
                ("", "plan-malformed"), ("{}", "plan-malformed"), ("[]", "plan-malformed"),
                (plan.replacing("\"schema\":1", with: "\"schema\":2"), "plan-newer-schema"),
                (plan.replacing("\"schema\":1", with: "\"schema\":1,\"extra\":1"), "plan-malformed"),
                (plan.replacing("\"schema\":1", with: "\"schema\":1,\"schema\":1"), "plan-malformed"),
                (plan.replacing("planned", with: "ready"), "plan-malformed"),
            ] {
                let answer = try await Self.put(service, Array(body.utf8), token, new)
                #expect(answer.status == 400, "\(body.prefix(60))")
                #expect(answer.code == code, "\(body.prefix(60))")
            }
            let other = try await Self.put(service, Array(plan.utf8), token, new, "\(Self.list)/two.example.com")
            #expect(other.status == 422)
            #expect(other.code == "other-plan")
            let foreign = plan.replacing("com.example.app", with: "com.example.other")
            #expect(try await Self.put(service, Array(foreign.utf8), token, new).code == "other-plan")
            let unlisted = try RotationPlan.story("none.example.com").bytes
            let answer = try await Self.put(service, unlisted, token, new, "\(Self.list)/none.example.com")
            #expect(answer.status == 422)
            #expect(answer.code == "not-listed")
            #expect(try await Self.put(service, Array(plan.utf8), token, new, "\(Self.list)/a..b").status == 400)
            // The answer comes before the body was sent, and may be lost with the connection; nothing is taken.
            let large = try? await Self.put(
                service, [UInt8](repeating: 0x20, count: RotationPlan.maximumLength + 1), token, new)
            #expect(large == nil || large?.status == 413)
            #expect(try await service.ask(.GET, Self.list).text == #"{"name":"com.example.app","rotations":[]}"#)
            #expect(try await service.actions() == ["publish", "publish"])
        }
    }

    @Test("a token that may not publish may not store a plan; one that may not read does not see one")
    func tokenThatMayNotPublishMayNotStoreAPlanOneThatMayNotReadDoesNotSeeOne() async throws {
        try await self.run { service, token in
            let plan = try RotationPlan.story().bytes
            let new: HTTPHeaders = ["If-None-Match": "*"]
            for (secret, status) in [
                (nil, 401), (token + "0", 401), (try await service.token(.read), 403),
                (try await service.token(.probe, ["com.example.app"]), 403),
                (try await service.token(.publish, ["com.example.other"]), 403),
            ] as [(String?, Int)] {
                #expect(try await Self.put(service, plan, secret, new).status == status)
            }
            let forwarded: HTTPHeaders = ["X-Forwarded-For": "192.0.2.1"]
            for path in [Self.list, Self.path] {
                #expect(try await service.ask(.GET, path, forwarded).status == 401)
                let foreign = try await service.token(.publish, ["com.example.other"])
                let fields = forwarded + [("Authorization", "Bearer \(foreign)")]
                #expect(try await service.ask(.GET, path, fields).status == 403)
            }
        }
    }

    @Test("the plans of a list have a limit together, which a smaller plan stays below", arguments: TestedStore.all)
    func plansOfAListHaveALimitTogetherWhichASmallerPlanStaysBelow(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let large = [UInt8](repeating: 0x20, count: Int(StoreTransaction.maximumRotationBytes))
            let rotation = StoredRotation(
                name: "a", host: "one.example.com", storedAt: TurnedClock.start, bytes: large)
            let small = StoredRotation(name: "a", host: "two.example.com", storedAt: TurnedClock.start, bytes: [0x20])
            let elsewhere = StoredRotation(
                name: "b", host: "two.example.com", storedAt: TurnedClock.start, bytes: [0x20])
            let storing = try await store.write { store in
                [
                    try store.put(rotation, if: .absent), try store.put(small, if: .absent),
                    try store.put(elsewhere, if: .absent), try store.put(rotation, if: .present),
                ]
            }
            #expect(storing == [.stored(isNew: true), .full, .stored(isNew: true), .stored(isNew: false)])
            #expect(try await store.read { try $0.rotations(of: "a").map(\.host) } == ["one.example.com"])
            #expect(try await store.read { try $0.rotations().count } == 2)
        }
    }
}
