// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import HTTPTypes
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("The number of requests of a source that count for adoption")
struct ListRequestQuotaTests {
    private static let held = String(repeating: "a", count: 64)
    private static let newest = String(repeating: "b", count: 64)
    private static let versions: [String: Int64] = [held: 1, newest: 2]
    private static let list = "/v1/lists/com.example.app/pins.json"

    /// One of 65,536 IPv4 addresses.
    private static func address(_ number: Int) throws -> SourceAddress {
        try #require(SourceAddress(bytes: [10, 7, UInt8(number >> 8 & 255), UInt8(number & 255)]))
    }

    /// Counts requests that name a digest.
    private static func ask(
        _ counter: ListRequestCounter, _ digest: String, _ address: SourceAddress, times: Int,
        at time: Timestamp = TurnedClock.start
    ) {
        for _ in 0..<times {
            counter.count("a", digest: digest, isPublished: true, from: .installation, address: address, at: time)
        }
    }

    /// The count in the hour of the stories.
    private static func count(_ counter: ListRequestCounter) -> WindowCount {
        WindowCount(counter.take(), hours: TurnedClock.start.hour...TurnedClock.start.hour, Self.versions)
    }

    @Test("one source with 10,000 requests moves the share no more than one with 120 does")
    func oneSourceWith10000RequestsMovesTheShareNoMoreThanOneWith120Does() throws {
        let shares = try [120, 10_000].map { times in
            let counter = ListRequestCounter(seed: 1)
            for number in 0..<1_000 { Self.ask(counter, Self.held, try Self.address(number), times: 1) }
            Self.ask(counter, Self.newest, try #require(SourceAddress("192.0.2.1")), times: times)
            let count = Self.count(counter)
            #expect(count.base == 1_120)
            #expect(count.surplus == Int64(times - 120))
            #expect(count.crowded == 0)
            return count.share(of: 2)
        }
        #expect(shares == [120.0 / 1_120, 120.0 / 1_120])
    }

    @Test("an IPv6 /64 is one source, and the next /64 another; each has its own part for each list and each hour")
    func iPv664IsOneSourceAndTheNext64Another() throws {
        let counter = ListRequestCounter(seed: 1)
        for number in 0..<1_000 {
            let address = try #require(SourceAddress("2001:db8:0:1::\(String(number, radix: 16))"))
            Self.ask(counter, Self.held, address, times: 1)
        }
        Self.ask(counter, Self.held, try #require(SourceAddress("2001:db8:0:2::1")), times: 1)
        var count = Self.count(counter)
        #expect(count.base == 121)
        #expect(count.surplus == 880)
        let spent = try #require(SourceAddress("2001:db8:0:1::1"))
        counter.count(
            "b", digest: Self.held, isPublished: true, from: .installation, address: spent, at: TurnedClock.start)
        #expect(counter.take().map(\.key.source) == [.installation])
        let later = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 3_600)
        Self.ask(counter, Self.held, spent, times: 121, at: later)
        count = WindowCount(counter.take(), hours: later.hour...later.hour, Self.versions)
        #expect(count.base == 120)
    }

    @Test("a request that names no list uses up no part of the quota, and is in no share")
    func requestThatNamesNoListUsesUpNoPartOfTheQuotaAndIsInNoShare() throws {
        let counter = ListRequestCounter(seed: 1)
        let address = try Self.address(1)
        for _ in 0..<1_000 {
            counter.count(
                "a", digest: nil, isPublished: false, from: .installation, address: address, at: TurnedClock.start)
        }
        Self.ask(counter, Self.held, address, times: 120)
        let count = Self.count(counter)
        #expect(count.base == 120)
        #expect(count.surplus == 0)
    }

    @Test("a flood from 300,000 addresses takes no more memory, and those that come after it are counted")
    func floodFrom300000AddressesTakesNoMoreMemoryAndThoseThatComeAfterItAreCounted() throws {
        var quota = ListRequestQuota(seed: 1)
        #expect(quota.capacity == 0)
        var refused = 0
        for number in 0..<300_000 {
            let bytes = [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
            let address = try #require(SourceAddress(bytes: [11] + bytes))
            if quota.take(address, for: "a") != .counts { refused += 1 }
        }
        #expect(refused == 0)
        #expect(quota.capacity == ListRequestQuota.places)
        for number in 0..<1_000 {
            let answer = quota.take(try Self.address(number), for: "a")
            #expect(answer == .counts)
        }
    }

    @Test("other addresses that push a source out bring it no request more than 120")
    func otherAddressesThatPushASourceOutBringItNoRequestMoreThan120() throws {
        var quota = ListRequestQuota(seed: 1, places: 8)
        let source = try #require(SourceAddress("192.0.2.1"))
        var counted = 0
        for round in 0..<400 {
            if quota.take(source, for: "a") == .counts { counted += 1 }
            // Nine others on eight places.
            for number in 0..<9 { _ = quota.take(try Self.address(round % 3 * 9 + number), for: "a") }
        }
        #expect(counted <= ListRequestQuota.maximumRequests)
        #expect(counted > 0)
        #expect(quota.capacity == 8)
    }

    @Test("a table that is used up counts no source, and says that it is not measured instead of measuring less")
    func tableThatIsUsedUpCountsNoSourceAndSaysThatItIsNotMeasuredInsteadOfMeasuringLess() throws {
        var quota = ListRequestQuota(seed: 1, places: 8)
        for number in 0..<2_000 { _ = quota.take(try Self.address(number), for: "a") }
        let late = quota.take(try #require(SourceAddress("192.0.2.1")), for: "a")
        #expect(late == .crowded)
        quota.reset()
        let next = quota.take(try #require(SourceAddress("192.0.2.1")), for: "a")
        #expect(next == .counts)
        let hour = TurnedClock.start.hour
        func count(crowded: Int64) -> HeldCount {
            HeldCount(
                [
                    ListRequestKey(name: "a", hour: hour, source: .installation, digest: Self.newest): 900,
                    ListRequestKey(name: "a", hour: hour, source: .crowded, digest: ListRequestKey.nothing): crowded,
                ], versions: Self.versions, window: 3_600, at: TurnedClock.start)
        }
        #expect(count(crowded: 100).why == nil)
        #expect(count(crowded: 101).why == "101 of 1001 requests came from more sources than can be distinguished")
        #expect(count(crowded: 101).requests == 900)
    }

    @Test("a client behind a proxy that is not trusted, first in every hour, cannot make its list the measured one")
    func clientBehindAProxyThatIsNotTrustedFirstInEveryHour() throws {
        let counter = ListRequestCounter(seed: 1)
        let proxy = try #require(SourceAddress("192.0.2.1"))
        let first = TurnedClock.start.hour - 23
        for hour in first...TurnedClock.start.hour {
            let time = Timestamp(secondsSince1970: hour * 3_600)
            Self.ask(counter, Self.newest, proxy, times: 120, at: time)
            Self.ask(counter, Self.held, proxy, times: 500, at: time)
        }
        let count = HeldCount(counter.take(), versions: Self.versions, window: 3_600, at: TurnedClock.start)
        #expect(count.requests == 24 * 120)
        #expect(count.versions == [2: 24 * 120])
        #expect(count.why?.contains("trustedProxies") == true)
    }

    @Test("few sources that asked as often as counts must not be most of what counts; many are large networks")
    func fewSourcesThatAskedAsOftenAsCountsMustNotBeMostOfWhatCounts() {
        let hour = TurnedClock.start.hour
        func why(_ base: Int64, exhausted: Int64) -> String? {
            HeldCount(
                [
                    ListRequestKey(name: "a", hour: hour, source: .installation, digest: Self.newest): base,
                    ListRequestKey(name: "a", hour: hour, source: .exhausted, digest: ListRequestKey.nothing):
                        exhausted,
                ], versions: Self.versions, window: 3_600, at: TurnedClock.start
            ).why
        }
        #expect(why(2_400, exhausted: 0) == nil)
        // Ten of them are half, and eleven are more.
        #expect(why(2_400, exhausted: 10) == nil)
        #expect(why(2_400, exhausted: 11) != nil)
        // Ten an hour of a day are not few.
        #expect(why(30_000, exhausted: 239) != nil)
        #expect(why(30_000, exhausted: 240) == nil)
    }

    @Test("one request of each source and hour says that there were more than count")
    func oneRequestOfEachSourceAndHourSaysThatThereWereMoreThanCount() throws {
        var quota = ListRequestQuota(seed: 1)
        let source = try #require(SourceAddress("192.0.2.1"))
        var answers: [ListRequestQuota.Answer: Int] = [:]
        for _ in 0..<200 { answers[quota.take(source, for: "a"), default: 0] += 1 }
        #expect(answers == [.counts: 120, .exhausted: 1, .surplus: 79])
        quota.reset()
        let next = quota.take(source, for: "a")
        #expect(next == .counts)
    }

    @Test(
        "a source is the client behind a trusted proxy, the peer otherwise; an edge and this machine are not bounded")
    func sourceIsTheClientBehindATrustedProxyThePeerOtherwise() async throws {
        let repository = try RepositorySimulator.story()
        let lists = ServedLists(anchors: repository.anchors)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            _ = try await lists.reload(from: store)
        }
        let tag = "\"\(Envelope.digest(of: repository.lists[0]))\""
        for (peer, forwardedFor, wanted) in [
            ("192.0.2.1", nil, [ListRequestKey.Source.installation: 120, .exhausted: 1, .surplus: 79]),
            // Each from an address of its own, says a proxy that is trusted, and then one that is not.
            ("10.0.0.1", "203.0.113.", [.installation: 200]),
            ("192.0.2.1", "203.0.113.", [.installation: 120, .exhausted: 1, .surplus: 79]),
            ("127.0.0.1", nil, [.installation: 200]),
            ("127.0.0.1", "203.0.113.", [.installation: 120, .exhausted: 1, .surplus: 79]),
            (nil, nil, [.installation: 120, .exhausted: 1, .surplus: 79]), ("198.51.100.9", nil, [.edge: 200]),
        ] as [(String?, String?, [ListRequestKey.Source: Int64])] {
            let listRequests = ListRequestCounter(seed: 1)
            let responder = ListResponder(
                lists: lists, listRequests: listRequests,
                source: RequestSource(
                    trustedProxies: [try #require(NetworkRange("10.0.0.0/8"))],
                    edges: [try #require(NetworkRange("198.51.100.0/24"))]),
                clock: TurnedClock())
            for number in 0..<200 {
                var request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: Self.list)
                request.headerFields[.ifNoneMatch] = tag
                if let forwardedFor { request.headerFields[.xForwardedFor] = "\(forwardedFor)\(number)" }
                _ = responder.answer(to: request, from: peer.flatMap { IPAddress(text: $0) })
            }
            var sources: [ListRequestKey.Source: Int64] = [:]
            for (key, count) in listRequests.take() { sources[key.source, default: 0] += count }
            #expect(sources == wanted, "\(peer ?? "no peer"), \(forwardedFor ?? "nothing")")
        }
    }
}
