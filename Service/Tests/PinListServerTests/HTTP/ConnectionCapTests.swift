// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import PinningTesting
import Testing

@testable import PinListServer

@Suite("The number of connections at a time")
struct ConnectionCapTests {
    /// Keeps what is logged.
    private struct Log: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.lines.withLockedValue { $0.append("\(event.message)") } }
    }

    @Test("a full listener accepts no more until one ends, and says so once a minute")
    func fullListenerAcceptsNoMoreUntilOneEndsAndSaysSoOnceAMinute() {
        let (lines, clock) = (NIOLockedValueBox<[String]>([]), TurnedClock())
        let cap = ConnectionCap(2, clock: clock, logger: Logger(label: "test") { _ in Log(lines: lines) })
        cap.connectionOpened()
        #expect(cap.isAcceptingNewConnections())
        cap.connectionOpened()
        for _ in 0..<10 { #expect(!cap.isAcceptingNewConnections()) }
        #expect(lines.withLockedValue { $0.count } == 1)
        clock.turn(by: 59)
        #expect(!cap.isAcceptingNewConnections())
        #expect(lines.withLockedValue { $0.count } == 1)
        clock.turn(by: 1)
        #expect(!cap.isAcceptingNewConnections())
        #expect(lines.withLockedValue { $0.count } == 2)
        #expect(lines.withLockedValue { $0.allSatisfy { $0.contains("maximumConnections") } })
        cap.connectionClosed()
        #expect(cap.isAcceptingNewConnections())
        #expect(cap.open == 1 && cap.maximum == 2)
    }

    @Test("descriptors are kept back for the store, the operator's listener, webhooks and logs")
    func descriptorsAreKeptBackForTheStoreTheOperatorsListenerWebhooksAndLogs() {
        let budget = DescriptorBudget(limit: 1_024)
        let kept = 1_024 - (budget.publicConnections(configured: nil, hasAdminListener: true) ?? 0)
        #expect(
            kept
                == DescriptorBudget.store + DescriptorBudget.adminConnections + DescriptorBudget.webhooks
                + DescriptorBudget.others)
        #expect(budget.publicConnections(configured: 100, hasAdminListener: true) == 100)
        #expect(budget.publicConnections(configured: 100_000, hasAdminListener: true) == 1_024 - kept)
        #expect(
            budget.publicConnections(configured: nil, hasAdminListener: false)
                == 1_024 - kept + DescriptorBudget.adminConnections)
        // Too few for anything: some connections all the same, for without them the service serves no client.
        #expect(
            DescriptorBudget(limit: 20).publicConnections(configured: nil, hasAdminListener: true)
                == DescriptorBudget.minimumConnections)
        #expect(DescriptorBudget(limit: nil).publicConnections(configured: nil, hasAdminListener: true) == nil)
        #expect(DescriptorBudget(limit: nil).publicConnections(configured: 7, hasAdminListener: true) == 7)
    }

    @Test(
        "strangers who hold all connections hold up the others, not the operator, and push no client out of the queue")
    func strangersWhoHoldAllConnectionsHoldUpTheOthersNotTheOperator() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            @Sendable func change(_ configuration: inout ServiceConfiguration) {
                configuration.roots = repository.anchors
                configuration.maximumConnections = 3
                configuration.adminListen = ListenAddress("127.0.0.1:0")
                // No idle client is disconnected while this goes on.
                configuration.deadlines.head = .seconds(600)
            }
            try await RunningService.with(store, { change(&$0) }) { service in
                let (port, admin) = (try service.port(of: service.address), try service.port(of: service.adminAddress))
                let request = Array("GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                let alive = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
                let seen = try await RawConnection.talk(to: port) { first in
                    func answer(on connection: RawConnection) -> [Int] {
                        connection.send(request)
                        return connection.read(until: "signatures").statuses
                    }
                    let others = [try RawConnection(port), try RawConnection(port)]
                    let held = ([first] + others).flatMap(answer)
                    let late = try RawConnection(port)
                    defer { late.end() }
                    late.send(request)
                    // Time enough for an answer to one that is accepted.
                    for _ in 0..<50 { _ = answer(on: first) }
                    let operatorsListener = try RawConnection(admin)
                    defer { operatorsListener.end() }
                    operatorsListener.send(alive)
                    let operators = operatorsListener.rest().statuses
                    let isEarly = late.hasUnread
                    for connection in others { connection.end() }
                    return (held, operators, isEarly, late.read(until: "signatures").statuses)
                }
                #expect(seen.0 == [200, 200, 200])
                #expect(seen.1 == [200])
                #expect(!seen.2, "a fourth connection was accepted")
                #expect(seen.3 == [200])
            }
        }
    }
}
