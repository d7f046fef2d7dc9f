// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// The real service in this process, on loopback, with SQLite and a clock that a test turns.
struct ClockedService {
    /// A test's clock, as the service asks it.
    private struct Clock: ServiceClock {
        let clock: ManualClock

        var now: Timestamp { self.clock.now }
        var uptime: Double { Double(self.clock.now.secondsSince1970) }
    }

    /// Its address, without a slash at its end.
    let address: String
    /// Answers requests for lists and roots, on its listener and for clients in this process alike.
    let responder: ListResponder

    private let name: String
    private let parts: ServiceParts

    /// Runs `body` beside it. The token that publishes is in the file `token` of the folder.
    ///
    /// - Parameters:
    ///   - name: The name of the list.
    ///   - root: The root that the app ships.
    static func with(
        _ name: String, root: [UInt8], clock: ManualClock, in folder: URL, _ body: (ClockedService) async throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration()
        configuration.listen = try #require(ListenAddress("127.0.0.1:0"))
        configuration.roots = [name: root]
        let store = try SQLiteStore(path: folder.appendingPathComponent("tumbler.sqlite").path)
        let random = [UInt8](repeating: 7, count: AccessToken.randomBytes)
        let (token, secret) = try #require(
            AccessToken.make(.publish, names: [name], random: random, at: clock.now))
        try await store.write { try $0.add(token) }
        try folder.writeToken(secret)

        try await PinListService.serving(configuration, store: store, clock: Clock(clock: clock)) { service, address in
            let parts = service.parts
            let responder = ListResponder(
                lists: parts.lists, listRequests: parts.listRequests, source: parts.source, clock: parts.clock)
            try await body(ClockedService(address: address, responder: responder, name: name, parts: parts))
        }
    }

    /// Stores what was counted now, and not when the service would.
    ///
    /// - Parameter requests: How many requests there were in the last 24 hours that named a list: all are stored when
    ///   this returns, those too that the service was storing meanwhile.
    func record(_ requests: Int) async throws {
        let recorder = ListRequestRecorder(
            counter: self.parts.listRequests, store: self.parts.store, logger: self.parts.logger)
        let (name, hour) = (self.name, self.parts.clock.now.hour)
        var stored: Int64 = 0
        // The end is met by a hang alone, on a machine however slow.
        let end = ContinuousClock.now + .seconds(600)
        repeat {
            await recorder.record()
            let counts = try await self.parts.store.read { store in
                try store.listRequests(of: name, windows: 1, of: HeldCount.hours(of: 0), until: hour)
            }
            stored = (counts.first ?? [:]).reduce(0) { sum, count in
                let isCounted = count.key.source == .installation && count.key.digest != ListRequestKey.nothing
                return isCounted ? sum + count.value : sum
            }
            if stored == requests { return }
            await Task.yield()
        } while ContinuousClock.now < end
        Issue.record("the service counted \(stored) of \(requests) requests")
    }
}
