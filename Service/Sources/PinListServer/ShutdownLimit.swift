// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Ends the process when a graceful shutdown takes too long: a database that another process holds, or a server of one that
/// no longer answers, would hold it up for longer than supervisors wait.
///
/// Nothing with 202 is lost by that: a report has it when it is stored.
package struct ShutdownLimit: Service {
    /// The time from the begin of a shutdown to the end of the process: below the 25 s after which supervisors may kill.
    package static let limit: Duration = .seconds(24)
    /// The time that the last line of the log may take.
    static let logging: Duration = .milliseconds(500)

    private let logger: Logger
    private let after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let end: @Sendable () -> Void

    /// A limit for this process.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - after: Does something after a time, whatever the other threads do: a thread of its own, but in tests.
    ///   - end: Ends the process, with 1 as its status.
    package init(
        logger: Logger,
        after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = Self.onThread,
        end: @escaping @Sendable () -> Void = { _exit(1) }
    ) {
        (self.logger, self.after, self.end) = (logger, after, end)
    }

    /// Waits for a graceful shutdown. It holds up none: it returns as soon as one begins.
    package func run() async throws {
        do { try await gracefulShutdown() } catch { return }
        let (logger, after, end) = (self.logger, self.after, self.end)
        after(Self.limit) {
            // The log may be a pipe that nobody reads, and then never returns.
            after(Self.logging, end)
            logger.error(
                """
                ended \(Self.limit.components.seconds) s after it was asked to, with work left: the database does not answer, \
                or not fast enough. Each report with 202 is stored; what was counted since the database last answered is lost
                """)
            end()
        }
    }

    /// Does something after a time on a thread of its own.
    package static func onThread(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: time / .seconds(1))
            body()
        }
    }
}
