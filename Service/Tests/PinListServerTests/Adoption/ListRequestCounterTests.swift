// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Counting who holds what", .runsPostgreSQL)
struct ListRequestCounterTests {
    private static func digest(_ number: Int) -> String {
        String(repeating: "0", count: 60) + String(number + 0x1000, radix: 16)
    }

    @Test("digests that were never published are told apart up to a bound, in an hour and for a name")
    func digestsThatWereNeverPublishedAreToldApartUpToABoundInAnHourAndForAName() {
        let counter = ListRequestCounter(seed: 1)
        for number in 0..<1_000 {
            for _ in 0..<2 {
                counter.count(
                    "a", digest: Self.digest(number), isPublished: false, from: .installation, address: nil,
                    at: TurnedClock.start)
            }
        }
        counter.count(
            "b", digest: Self.digest(999), isPublished: false, from: .installation, address: nil, at: TurnedClock.start)
        let counts = counter.take()
        #expect(counts.count == ListRequestCounter.unpublishedDigests + 2)
        let others = ListRequestKey(
            name: "a", hour: TurnedClock.start.hour, source: .installation, digest: ListRequestKey.others)
        #expect(counts[others] == 2 * (1_000 - Int64(ListRequestCounter.unpublishedDigests)))
        #expect(counts.values.reduce(0, +) == 2_001)
        #expect(counter.take().isEmpty)
        // The hour after there is room again.
        let later = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 3_600)
        counter.count("a", digest: Self.digest(999), isPublished: false, from: .edge, address: nil, at: later)
        #expect(counter.take().keys.first?.digest == Self.digest(999))
    }

    @Test(
        "what is no digest is not kept as one", arguments: ["", "x", "DROP TABLE", String(repeating: "A", count: 64)])
    func whatIsNoDigestIsNotKeptAsOne(_ text: String) {
        let counter = ListRequestCounter(seed: 1)
        counter.count(
            "a", digest: text, isPublished: false, from: .installation, address: nil, at: TurnedClock.start)
        #expect(counter.take().keys.map(\.digest) == [ListRequestKey.others])
    }

    @Test("a count that could not be stored is added to later ones, and instances add up", arguments: TestedStore.all)
    func countThatCouldNotBeStoredIsAddedToLaterOnesAndInstancesAddUp(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (WrappedStore(try open()), try open())
            let counter = ListRequestCounter(seed: 1)
            let recorder = ListRequestRecorder(counter: counter, store: store, logger: .init(label: "test"))
            let digest = Self.digest(1)
            func count() {
                counter.count(
                    "a", digest: digest, isPublished: true, from: .installation, address: nil, at: TurnedClock.start)
            }
            count()
            store.failure = StoreError(.full, "the disk is full")
            await recorder.record()
            count()
            store.failure = nil
            await recorder.record()
            await recorder.record()
            let key = ListRequestKey(name: "a", hour: TurnedClock.start.hour, source: .installation, digest: digest)
            try await other.write { try $0.add([key: 5]) }
            #expect(try await store.read { try $0.listRequests(of: "a", since: 0) } == [key: 7])
            #expect(try await store.read { try $0.listRequests(of: "b", since: 0) }.isEmpty)
            #expect(store.writes == 2)
        }
    }
}
