// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Slow connections, and the end of the service")
struct SlowConnectionTests {
    private static let pins = "/v1/lists/com.example.app/pins.json"

    /// Runs `body` with a list of half a megabyte, which no system keeps for a reader that has room for little.
    private func run(
        _ change: @Sendable (inout ServiceConfiguration) -> Void,
        _ body: @Sendable (RunningService, Int, [UInt8]) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.ofLargeList()
        #expect(repository.lists[0].count > 500_000)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(
                store,
                {
                    $0.roots = repository.anchors
                    change(&$0)
                }
            ) { service in try await body(service, try service.port(of: service.address), repository.lists[0]) }
        }
    }

    private static func request(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    }

    /// Requests the list with a small receive buffer, and takes the first bytes of it.
    private static func askSlowly(_ port: Int) throws -> (RawConnection, RawAnswer) {
        let reader = try RawConnection(port, receiveBuffer: 4_096)
        reader.send(self.request(Self.pins))
        return (reader, reader.read(count: 1_000))
    }

    @Test("a client that reads a large list slowly gets all of it")
    func clientThatReadsALargeListSlowlyGetsAllOfIt() async throws {
        try await self.run({ $0.deadlines.head = .milliseconds(300) }) { _, port, list in
            let (first, rest) = try await RawConnection.talk(to: port) { silent in
                var (reader, first) = try Self.askSlowly(port)
                // A slow machine may not have asked in time: then it asks again.
                for _ in 0..<100 where first.bytes.isEmpty {
                    reader.end()
                    (reader, first) = try Self.askSlowly(port)
                }
                defer { reader.end() }
                // The deadline of a head passes twice, as those see who say nothing.
                _ = silent.rest()
                let another = try RawConnection(port)
                defer { another.end() }
                _ = another.rest()
                return (first, reader.read(count: list.count + 10_000))
            }
            #expect(first.statuses == [200])
            #expect((first.bytes + rest.bytes).suffix(list.count) == list[...])
        }
    }

    @Test("when the service ends, idle connections end at once, and requests in progress are finished")
    func whenTheServiceEndsIdleConnectionsEndAtOnceAndRequestsInProgressAreFinished() async throws {
        let report = ReportText.body()
        // A request in progress is finished, however slow the machine is.
        try await self.run({
            $0.deadlines.head = .seconds(6_000)
            $0.deadlines.body = .seconds(6_000)
            $0.deadlines.shutdown = .seconds(6_000)
        }) { service, port, list in
            let ended = try await RawConnection.talk(to: port) { idle in
                idle.send(Self.request("/healthz"))
                let first = idle.read(until: "}").statuses
                let sender = try RawConnection(port)
                defer { sender.end() }
                let head =
                    "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                    + "Content-Length: \(report.count)\r\n\r\n"
                sender.send(Array(head.utf8))
                // It has begun to be read.
                _ = sender.read(until: "100 Continue\r\n\r\n")
                sender.send(Array(report.prefix(10)))
                let (reader, begin) = try Self.askSlowly(port)
                defer { reader.end() }
                Task { await service.shutDown() }
                let last = idle.rest()
                sender.send(Array(report.dropFirst(10)))
                return (first, last, sender.rest(), begin, reader.rest())
            }
            #expect(ended.0 == [200])
            #expect(ended.1.bytes.isEmpty && ended.1.isEnded)
            #expect(ended.2.statuses == [202] && ended.2.isEnded)
            #expect((ended.3.bytes + ended.4.bytes).suffix(list.count) == list[...])
            let stored = try await service.store.read { store in
                try store.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0)
            }
            #expect(stored == 1)
        }
    }

    @Test("a request that does not end does not hold up the end of the service")
    func requestThatDoesNotEndDoesNotHoldUpTheEndOfTheService() async throws {
        // All deadlines but that of the shutdown are far off: it ends, or the test does not.
        let left = NIOLockedValueBox<(reader: RawConnection, begin: Int, list: Int)?>(nil)
        try await self.run({
            $0.deadlines.head = .seconds(6_000)
            $0.deadlines.body = .seconds(6_000)
            $0.deadlines.answer = .seconds(6_000)
            $0.deadlines.shutdown = .milliseconds(200)
        }) { service, port, list in
            let (last, reader, begin) = try await RawConnection.talk(to: port) { sender in
                let head =
                    "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 1000\r\n\r\n"
                sender.send(Array(head.utf8))
                _ = sender.read(until: "100 Continue\r\n\r\n")
                let (reader, begin) = try Self.askSlowly(port)
                Task { await service.shutDown() }
                return (sender.rest(), reader, begin.bytes.count)
            }
            #expect(last.statuses.isEmpty && last.isEnded)
            left.withLockedValue { $0 = (reader, begin, list.count) }
        }
        // The service is over: what comes is what it had handed to the system.
        let (reader, begin, list) = try #require(left.withLockedValue { $0 })
        defer { reader.end() }
        #expect(begin + reader.rest().bytes.count < list)
    }
}
