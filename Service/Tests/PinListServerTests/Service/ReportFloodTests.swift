// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Floods of reports")
struct ReportFloodTests {
    /// Runs a service that serves a list with one host, behind a proxy that says who asks.
    private static func withService(
        _ change: @escaping @Sendable (inout ServiceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        let proxy = try #require(NetworkRange("127.0.0.0/8"))
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(
                store,
                {
                    $0.roots = repository.anchors
                    $0.trustedProxies = [proxy]
                    change(&$0)
                }, body)
        }
    }

    /// An array of so many reports about hosts that there are not.
    private static func array(_ number: Int, of size: Int = 128) -> [UInt8] {
        let entries = (0..<size).map { entry in
            "{\"type\":\"x\",\"age\":0,\"url\":\"https://x/\",\"body\":{\"hostname\":\"h\(number)-\(entry).evil.test\","
                + "\"known-pins\":[],\"validation-result\":1,\"app-version\":\"\(number).\(entry)\"}}"
        }
        return Array("[\(entries.joined(separator: ","))]".utf8)
    }

    private static func from(_ address: String) -> HTTPHeaders { ["X-Forwarded-For": address] }

    private static func counts(_ service: RunningService) async throws -> (all: Int64, samples: Int64) {
        try await service.store.read { store in
            let row = try store.connection.rows("SELECT COUNT(*), COALESCE(SUM(sampled), 0) FROM report", []).first
            return (try row?.integer(0) ?? -1, try row?.integer(1) ?? -1)
        }
    }

    @Test("arrays of invented hosts from one address store what its bucket allows; another source's report is seen")
    func arraysOfInventedHostsFromOneAddressStoreWhatItsBucketAllows() async throws {
        try await Self.withService { service in
            var statuses: [Int: Int64] = [:]
            // 300 arrays in ten minutes: one source has 120 tokens, and 60 in a minute.
            for number in 0..<300 {
                if number % 30 == 29 { service.clock.turn(by: 60) }
                let answer = try await service.report(Self.array(number), Self.from("203.0.113.9"))
                statuses[answer.status, default: 0] += 1
            }
            let flooded = try await Self.counts(service)
            let taken = flooded.all - flooded.samples
            #expect(taken == 128 * (statuses[202] ?? 0))
            #expect(taken <= 120 + 10 * 60 + 128)
            #expect(taken >= 128)
            // One in a hundred that are turned away is kept: one report of it, and not 128.
            #expect(flooded.samples == (statuses[429] ?? 0) / 100)
            let genuine = ReportText.body([
                ("hostname", .string("api.example.com")), ("noted-hostname", .string("api.example.com")),
            ])
            #expect(try await service.report(genuine, Self.from("198.51.100.7")).status == 202)
            let groups = try await service.store.read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.contains { $0.host == "api.example.com" && $0.count == 1 })
        }
    }

    @Test("an array of 128 is taken once from a source that was quiet; the second one is told when to come")
    func arrayOf128IsTakenOnceFromASourceThatWasQuietTheSecondOneIsToldWhenToCome() async throws {
        try await Self.withService { service in
            let office = Self.from("203.0.113.9")
            #expect(try await service.report(Self.array(0), office).status == 202)
            let second = try await service.report(Self.array(1), office)
            #expect(second.status == 429)
            #expect(second.code == "too-many")
            let told = try #require(second.headers["retry-after"].first.flatMap { Int64($0) })
            #expect(told >= 9 && told <= RetryTime.maximum)
            #expect(try await Self.counts(service).all == 128)
            #expect(try await service.report(Self.array(2), Self.from("203.0.113.10")).status == 202)
        }
    }

    @Test("an array over the limit is one sample with one report")
    func arrayOverTheLimitIsOneSampleWithOneReport() async throws {
        try await Self.withService({ $0.reportLimits.sampleEvery = 1 }) { service in
            let office = Self.from("203.0.113.9")
            #expect(try await service.report(Self.array(0), office).status == 202)
            #expect(try await service.report(Self.array(1), office).status == 429)
            let counts = try await Self.counts(service)
            #expect(counts.all == 129)
            #expect(counts.samples == 1)
        }
    }

    @Test("large reports of invented hosts from one address are all counted, and a megabyte of what they say is kept")
    func largeReportsOfInventedHostsFromOneAddressAreAllCountedAMegabyteOfWhatTheySayIsKept() async throws {
        try await Self.withService { service in
            let certificate = PEMBlock(
                label: PEMBlock.certificateLabel, bytes: [UInt8](repeating: 7, count: ReportBodyLimits.chainBytes))
            let chain = JSONValue.array([.string(certificate.text)])
            func report(_ host: String) -> [UInt8] {
                ReportText.body([
                    ("hostname", .string(host)), ("noted-hostname", .string(host)),
                    ("served-certificate-chain", chain), ("validated-certificate-chain", chain),
                ])
            }
            for number in 0..<8 {
                let answer = try await service.report(report("h\(number).evil.test"), Self.from("203.0.113.9"))
                #expect(answer.status == 202)
            }
            let flooded = try await service.store.read { store in
                let row = try store.connection.rows("SELECT COUNT(*), SUM(LENGTH(body)) FROM report", []).first
                return (count: try row?.integer(0) ?? -1, bytes: try row?.integer(1) ?? -1)
            }
            #expect(flooded.count == 8)
            // Three of them have a little more than a megabyte.
            #expect((300_000...1_200_000).contains(flooded.bytes))
            #expect(try await service.report(report("api.example.com"), Self.from("198.51.100.7")).status == 202)
            let last = try await service.store.read { store in
                try store.connection.rows("SELECT LENGTH(body) FROM report ORDER BY number DESC LIMIT 1", []).first?
                    .optionalInteger(0)
            }
            #expect(last ?? 0 > 300_000)
        }
    }

    @Test("a body that is read and refused is charged as well: large bodies that are no reports use up the bucket")
    func bodyThatIsReadAndRefusedIsChargedAsWellLargeBodiesThatAreNoReportsUseUpTheBucket() async throws {
        try await Self.withService { service in
            let flood = Self.from("203.0.113.9")
            let large = [UInt8](repeating: UInt8(ascii: " "), count: 500_000)
            var statuses: [Int] = []
            for _ in 0..<10 { statuses.append(try await service.report(large, flood).status) }
            // 16 tokens each: seven of them leave eight.
            #expect(statuses == Array(repeating: 400, count: 7) + [429, 429, 429])
        }
    }

    @Test("those who are turned away in one moment are not all asked to come at one moment")
    func thoseWhoAreTurnedAwayInOneMomentAreNotAllAskedToComeAtOneMoment() async throws {
        try await Self.withService({
            $0.reportLimits.totalBurst = 1
            $0.reportLimits.totalPerMinute = 1
        }) { service in
            var told: [Int64] = []
            for number in 0..<100 {
                let answer = try await service.report(ReportText.body(), Self.from("203.0.113.\(number)"))
                guard answer.status == 429 else { continue }
                told.append(try #require(answer.headers["retry-after"].first.flatMap { Int64($0) }))
            }
            #expect(told.count == 99)
            #expect(Set(told).count > 90)
            #expect(told.allSatisfy { $0 >= 60 && $0 <= RetryTime.maximum })
        }
    }
}
