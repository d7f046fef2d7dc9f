// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListClient

/// A clock that shows the time, and on which no wait ever ends.
///
/// The schedule of a client, the refresh after a mismatch and the repetition of a report all begin with a wait. In the
/// demonstration, and in a drill, whoever tells the story says when clients refresh, or its counts would be a matter of
/// luck.
package struct StandingClock: PinningClock {
    private let clock = SystemClock()

    /// A clock that shows the machine's time.
    package init() {}

    /// The time of day, in whole seconds.
    package var now: Timestamp { self.clock.now }

    /// Waits for the end of the task.
    ///
    /// - Throws: `CancellationError`, always.
    package func sleep(seconds: Double) async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        // Ends with the task alone; the continuation is kept, for a stream whose continuation is gone ends.
        for await _ in never {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }
}
