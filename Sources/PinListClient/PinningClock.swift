// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation

/// A clock: the time of day, and sleeping. A protocol, so that a test can control both.
public protocol PinningClock: Sendable {
    /// The time of day. It may be wrong, and may go backwards.
    var now: Timestamp { get }

    /// Waits.
    ///
    /// - Parameter seconds: The minimum wait.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(seconds: Double) async throws
}

/// The clock of the device.
public struct SystemClock: PinningClock {
    /// Creates the clock.
    public init() {}

    /// The time of day, in whole seconds.
    public var now: Timestamp { Timestamp(roundingDown: Date().timeIntervalSince1970) }

    /// Waits with `Task.sleep`; not at all for NaN.
    public func sleep(seconds: Double) async throws {
        let nanoseconds = (max(0, min(seconds, 1e9)) * 1e9).rounded()
        try await Task.sleep(nanoseconds: UInt64(exactly: nanoseconds) ?? 0)
    }
}

/// Wakes ``Pinning/run()``. A signal without a listener is lost.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class WorkSignal: @unchecked Sendable {
    private let lock = NSLock()
    private var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
    private var wasHeardOrAsked = false

    /// The later signals; several at once are one. Each listener has a stream of its own, and every signal.
    func signals() -> AsyncStream<Void> {
        let id = UUID()
        let (signals, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.onTermination = { [weak self] _ in
            guard let self else { return }
            self.lock.withLock { self.listeners[id] = nil }
        }
        self.lock.withLock {
            self.listeners[id] = listener
            self.wasHeardOrAsked = true
        }
        return signals
    }

    /// Sends a signal to all listeners.
    func send() {
        for listener in self.lock.withLock({ Array(self.listeners.values) }) { listener.yield() }
    }

    /// Whether there never was a listener, and this was not called before.
    func isFirstTimeUnheard() -> Bool {
        self.lock.withLock {
            defer { self.wasHeardOrAsked = true }
            return !self.wasHeardOrAsked
        }
    }
}
