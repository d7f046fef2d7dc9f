// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOConcurrencyHelpers
import PinListServer
import ServiceLifecycle
import Testing

@Suite("The limit of a graceful shutdown")
struct ShutdownLimitTests {
    /// What was to be done later, and how often the process was ended.
    private final class Later: Sendable {
        let tasks = NIOLockedValueBox<[(after: Duration, body: @Sendable () -> Void)]>([])
        let ends = NIOLockedValueBox(0)

        func limit() -> ShutdownLimit {
            ShutdownLimit(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { time, body in
                self.tasks.withLockedValue { $0.append((time, body)) }
            } end: {
                self.ends.withLockedValue { $0 += 1 }
            }
        }
    }

    /// A service that stores for ever once it is asked to end: until its task is cancelled.
    private struct Stuck: Service {
        let isStuck: AsyncStream<Void>.Continuation

        func run() async throws {
            try await gracefulShutdown()
            self.isStuck.yield()
            // Ends with its task alone.
            try await Task.sleep(for: .seconds(86_400))
        }
    }

    @Test("a database that never answers holds up the end of the process for 24 s, and no longer")
    func databaseThatNeverAnswersHoldsUpTheEndOfTheProcessFor24SAndNoLonger() async {
        let later = Later()
        let (stuck, isStuck) = AsyncStream<Void>.makeStream()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [Stuck(isStuck: isStuck), later.limit()], logger: logger)
        await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            // Services end one after the other, from the last one: the limit lets the others go on at once.
            for await _ in stuck { break }
            let (times, body) = later.tasks.withLockedValue { ($0.map(\.after), $0.first?.body) }
            #expect(times == [.seconds(24)])
            #expect(later.ends.withLockedValue { $0 } == 0)
            body?()
            #expect(later.ends.withLockedValue { $0 } == 1)
            // Were the log a pipe that nobody reads, this would end the process.
            let last = later.tasks.withLockedValue { $0.last }
            #expect(last?.after == .milliseconds(500))
            last?.body()
            #expect(later.ends.withLockedValue { $0 } == 2)
            tasks.cancelAll()
        }
    }

    @Test("a service that cannot begin ends with its own error, and nothing is ended later")
    func serviceThatCannotBeginEndsWithItsOwnError() async throws {
        struct Refused: Error {}
        struct Broken: Service {
            func run() async throws { throw Refused() }
        }
        let later = Later()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        await #expect(throws: Refused.self) {
            try await ServiceGroup(services: [Broken(), later.limit()], logger: logger).run()
        }
        #expect(later.tasks.withLockedValue { $0.isEmpty })
    }
}
