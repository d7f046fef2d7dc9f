// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListStore

@Suite(
    "The line of calls that wait for PostgreSQL",
    .enabled(if: PostgreSQLLibrary.refusal == nil, "there is no libpq: scripts/need libpq5"))
struct PostgreSQLThreadsTests {
    @Test("strangers fill half of it, and the service still finds its places")
    func strangersFillHalfOfItAndTheServiceStillFindsItsPlaces() async throws {
        let address = try PostgreSQLAddress("postgres://tumbler@127.0.0.1/x")
        let threads = PostgreSQLThreads(
            count: 1, limit: 4, PostgreSQLReconnection(address, PostgreSQLLimits(), SystemServiceClock()))
        defer { threads.close() }
        let end = DispatchSemaphore(value: 0)
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        var calls = [
            Task {
                try await threads.run { _ in
                    begin.yield()
                    end.wait()
                }
            }
        ]
        for await _ in begins { break }
        func wait(_ reader: StoreReader, until count: Int) async {
            calls.append(Task { try await threads.run(for: reader) { _ in } })
            while threads.waitingCount < count { await Task.yield() }
        }
        await wait(.stranger, until: 1)
        await wait(.stranger, until: 2)
        let refusal = await #expect(throws: StoreError.self) { try await threads.run(for: .stranger) { _ in } }
        #expect(refusal?.code == .busy)
        await wait(.service, until: 3)
        await wait(.service, until: 4)
        await #expect(throws: StoreError.self) { try await threads.run { _ in } }
        end.signal()
        for call in calls { try await call.value }
    }

    @Test("a call without a place is refused after its caller has gone on: one that calls again then fills no stack")
    func callWithoutAPlaceIsRefusedAfterItsCallerHasGoneOn() async throws {
        let address = try PostgreSQLAddress("postgres://tumbler@127.0.0.1/x")
        let threads = PostgreSQLThreads(
            count: 0, limit: 0, PostgreSQLReconnection(address, PostgreSQLLimits(), SystemServiceClock()))
        // Held while it is called, and had twice by the thread that has it: a refusal within would go through.
        let calling = NSRecursiveLock()
        let hasReturned = DispatchSemaphore(value: 0)
        let (result, wasLater) = await withCheckedContinuation { continuation in
            calling.withLock {
                threads.run({ _ in }) { result in
                    let wasLater = calling.withLock { hasReturned.wait(timeout: .now()) == .success }
                    continuation.resume(returning: (result, wasLater))
                }
                hasReturned.signal()
            }
        }
        #expect(wasLater)
        #expect { try result.get() } throws: { ($0 as? StoreError)?.code == .busy }
    }
}
