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

@Suite("The lists that installations hold")
struct HeldCountTests {
    private static let now = TurnedClock.start
    private static let versions = ["one": Int64(1), "two": 2]

    private func count(
        _ parts: (hoursAgo: Int64, digest: String, count: Int64)..., source: ListRequestKey.Source = .installation,
        window: Int64 = 43_200
    ) -> HeldCount {
        var counts: [ListRequestKey: Int64] = [:]
        for part in parts {
            let hour = Self.now.hour - part.hoursAgo
            counts[ListRequestKey(name: "a", hour: hour, source: source, digest: part.digest)] = part.count
        }
        return HeldCount(counts, versions: Self.versions, window: window, at: Self.now)
    }

    @Test("a day counts where clients ask twice a day: who asked yesterday evening holds a list, too")
    func dayCountsWhereClientsAskTwiceADayWhoAskedYesterdayEveningHoldsAListToo() {
        let count = self.count((0, "two", 250), (13, "one", 50), (23, "one", 5), (24, "one", 1_000))
        #expect(count.why == nil)
        #expect(count.period == 86_400 && count.requests == 305 && count.unknown == 0)
        #expect(count.versions == [2: 250, 1: 55])
        // Installations that ask every second day are counted over two.
        let slow = self.count((0, "two", 300), (47, "one", 7), (48, "one", 9), window: 2 * 86_400)
        #expect(slow.period == 2 * 86_400 && slow.versions == [2: 300, 1: 7])
    }

    @Test("below 300 requests nothing is decided by it; what was never published is counted as unknown")
    func below300RequestsNothingIsDecidedByItWhatWasNeverPublishedIsCountedAsUnknown() {
        #expect(self.count((0, "two", 299)).why?.contains("300") == true)
        #expect(self.count((0, "two", 300)).why == nil)
        let count = self.count((0, "two", 290), (0, "made up", 8), (1, "other", 2), (1, "", 5_000))
        #expect(count.why == nil && count.requests == 300 && count.unknown == 10 && count.versions == [2: 290])
    }

    @Test("requests through a cache whose log is not fed in say nothing")
    func requestsThroughACacheWhoseLogIsNotFedInSayNothing() {
        #expect(self.count((0, "two", 10_000), source: .edge).why?.contains("cache") == true)
        #expect(self.count((0, "two", 10_000), source: .log).why == nil)
    }

    @Test("the service tells tokens that may read, publish or probe that name, and no others")
    func serviceTellsTokensThatMayReadPublishOrProbeThatNameAndNoOthers() async throws {
        let repository = try RepositorySimulator.story()
        let name = repository.root.name
        let path = "/v1/lists/\(name)/adoption"
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: name, by: "test", at: Self.now)
            try await RunningService.with(
                store,
                {
                    $0.listen = ListenAddress("0.0.0.0:0") ?? .loopback
                    $0.roots = repository.anchors
                }
            ) { service in
                func status(_ token: String?, _ path: String) async throws -> UInt {
                    let fields: HTTPHeaders = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
                    return UInt(try await service.ask(.GET, path, fields).status)
                }
                let (read, publish) = (try await service.token(.read), try await service.token(.publish, [name]))
                let other = try await service.token(.publish, ["com.example.other"])
                let probe = try await service.token(.probe, [name])
                #expect(try await status(nil, path) == 401)
                #expect(try await status(other, path) == 403)
                for token in [read, publish, probe] { #expect(try await status(token, path) == 200) }
                #expect(try await status(read, "/v1/lists/com.example.other/adoption") == 404)
                let answer = try await service.ask(.GET, path, ["Authorization": "Bearer \(publish)"])
                #expect(answer.text.contains(#""state":"not-measured""#) && answer.text.contains(#""period":86400"#))
            }
        }
    }
}
