// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Taking reports", .runsPostgreSQL)
struct ReportRequestTests {
    private static func count(_ store: any ServiceStore) async throws -> Int64 {
        try await store.read { try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0) ?? -1 }
    }

    private static let incident = Array(
        #"{"date-time": "2026-11-21T00:00:00Z", "tumbler": {"list-name": "a", "list-version": 7, "reason": "rollback"}}"#
            .utf8)
    private static let classic = Array(
        """
        {"date-time": "2026-11-21T00:00:00Z", "hostname": "api.example.com", "port": 443,
         "effective-expiration-date": "2027-11-21T00:00:00Z", "include-subdomains": false,
         "noted-hostname": "api.example.com", "served-certificate-chain": [], "validated-certificate-chain": [],
         "known-pins": ["pin-sha256=\\"d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\\""]}
        """.utf8)
    private static let entries = Array(
        """
        [{"type": "network-error", "age": 60, "url": "https://api.example.com/", "body": {"type": "tls.cert.invalid"}},
         {"type": "network-error", "age": 0, "url": "https://b.example/", "body": {"type": "dns.unreachable"}}]
        """.utf8)

    @Test("every form is taken, and is there when the store is opened again", arguments: TestedStore.all)
    func everyFormIsTakenAndIsThereWhenTheStoreIsOpenedAgain(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            try await RunningService.with(try open()) { service in
                for body in [ReportText.body(), Self.incident, Self.classic, Self.entries] {
                    let answer = try await service.report(body)
                    #expect(answer.status == 202)
                    #expect(answer.body.isEmpty)
                }
                // Before the service has ended.
                #expect(try await Self.count(try open()) == 4)
            }
            let groups = try await open().read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(Set(groups.map(\.kind)) == ["pin", "incident", "tls"])
            #expect(groups.map(\.count).reduce(0, +) == 4)
        }
    }

    @Test(
        "TrustKit's sample is taken as it is, and its vendor id is not kept",
        .enabled(if: SharedData.holds(SharedData.trustKitReport), "there is no ../shared/data beside the checkout"))
    func trustKitsSampleIsTakenAsItIsAndItsVendorIdIsNotKept() async throws {
        let body = [UInt8](try Data(contentsOf: SharedData.trustKitReport))
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                #expect(try await service.report(body).status == 202)
                let bodies = try await service.store.read { store in
                    try store.connection.rows("SELECT body FROM report WHERE body IS NOT NULL", []).map {
                        try $0.blob(0)
                    }
                }
                #expect(bodies.count == 1)
                #expect(!String(decoding: bodies[0], as: UTF8.self).contains("app-vendor-id"))
            }
        }
    }

    @Test("an invalid report is refused with a code, and nothing of it is kept")
    func invalidReportIsRefusedWithACodeAndNothingOfItIsKept() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                for (body, status, code) in [
                    ("", 400, "not-json"), ("{", 400, "not-json"), ("{}", 400, "not-a-report"),
                    ("1", 400, "wrong-type"),
                    (#"{"hostname": {}, "date-time": "2026-11-21T00:00:00Z"}"#, 400, "wrong-type"),
                    (String(repeating: " ", count: 524_289), 413, "too-large"),
                    (String(repeating: "[", count: 64), 400, "not-json"),
                ] {
                    let answer = try await service.report(Array(body.utf8))
                    #expect(answer.status == status, "\(body.prefix(40))")
                    #expect(answer.code == code, "\(body.prefix(40))")
                }
                // The answer comes before the body was sent, and may be lost with the connection; nothing is taken.
                let large = try? await service.report([UInt8](repeating: 0x20, count: 6_291_457))
                #expect(large == nil || large?.status == 413)
                let packed = try await service.report(ReportText.body(), ["Content-Encoding": "gzip"])
                #expect(packed.status == 415)
                #expect(packed.code == "encoded")
                #expect(try await Self.count(service.store) == 0)
            }
        }
    }

    @Test("over its limit a source is asked to come later, and samples of it are kept and marked")
    func overItsLimitASourceIsAskedToComeLaterAndSamplesOfItAreKeptAndMarked() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(),
                {
                    $0.reportLimits.sourceBurst = 5
                    $0.reportLimits.sampleEvery = 10
                }
            ) { service in
                var statuses: [Int: Int] = [:]
                var told: [Int] = []
                for _ in 0..<45 {
                    let answer = try await service.report(ReportText.body())
                    statuses[answer.status, default: 0] += 1
                    guard answer.status == 429 else { continue }
                    #expect(answer.code == "too-many")
                    told.append(try #require(answer.headers["retry-after"].first.flatMap { Int($0) }))
                }
                #expect(statuses == [202: 5, 429: 40])
                // One after the other, a token each second, and up to a third more by chance.
                #expect(told.first == 1)
                #expect(told.enumerated().allSatisfy { $1 > $0 && $1 <= ($0 + 1) * 4 / 3 })
                let sampled = try await service.store.read { store in
                    try store.connection.rows("SELECT sampled, COUNT(*) FROM report GROUP BY sampled", [])
                        .map { [try $0.integer(0), try $0.integer(1)] }
                }
                #expect(Set(sampled) == [[0, 5], [1, 4]])
                service.clock.turn(by: 60)
                #expect(try await service.report(ReportText.body()).status == 202)
            }
        }
    }

    @Test("while the disk is full reports are refused for now, and lists are served on")
    func whileTheDiskIsFullReportsAreRefusedForNowAndListsAreServedOn() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let repository = try RepositorySimulator.story()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                store.failure = StoreError(.full, "the disk is full")
                let answer = try await service.report(ReportText.body())
                #expect(answer.status == 503)
                #expect(answer.code == "store-full")
                let told = try #require(answer.headers["retry-after"].first.flatMap { Int($0) })
                #expect((30...40).contains(told))
                let list = try await service.ask(.GET, "/v1/lists/com.example.app/pins.json")
                #expect(list.status == 200)
                #expect(list.body == repository.lists[0])
                store.failure = nil
                #expect(try await service.report(ReportText.body()).status == 202)
                #expect(try await Self.count(store) == 1)
            }
        }
    }

    @Test("a report in flight when the service is asked to end is stored and answered")
    func reportInFlightWhenTheServiceIsAskedToEndIsStoredAndAnswered() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            try await RunningService.with(store) { service in
                async let answer = service.report(ReportText.body())
                await service.untilReportWaits()
                await service.shutDown()
                store.open()
                let status = try await answer.status
                #expect(status == 202)
            }
            let count = try await Self.count(try open())
            #expect(count == 1)
        }
    }
}
