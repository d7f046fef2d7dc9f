// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Logging
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("The numbers of registered keys")
struct AttestedKeyCountsTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("are counted every ten minutes, and a first count that failed a minute later")
    func areCountedEveryTenMinutesAndAFirstCountThatFailedAMinuteLater() async throws {
        let counts = AttestedKeyCounts()
        func look(_ store: any ServiceStore, at uptime: Double) async -> [String: Int64] {
            await counts.counts(of: ["a"], in: store, uptime: uptime, self.logger)
        }
        try await TestedStore.sqlite.withDatabase { open in
            let (store, away) = (try open(), AbsentStore(StoreError(.absent, "there is no database")))
            #expect(await look(away, at: 0) == [:])
            #expect(await look(store, at: 59) == [:])
            #expect(await look(store, at: 60) == ["a": 0])
            // What is registered here is known at once, and nothing is read for it.
            counts.registered(for: "a")
            counts.registered(for: "b")
            #expect(await look(away, at: 659) == ["a": 1])
            // A later count that fails leaves the one before it.
            #expect(await look(away, at: 660) == ["a": 1])
            #expect(await look(store, at: 1_259) == ["a": 1])
            while await look(store, at: 1_260) != ["a": 0] { await Task.yield() }
        }
    }
}
