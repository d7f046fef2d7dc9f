// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Tells whoever runs the client that there is something to do. Signals while nobody listens are lost.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class WakeUp: @unchecked Sendable {
    private let lock = NSLock()
    private var listener: AsyncStream<Void>.Continuation?
    private var wasAsked = false

    /// The signals from now on; any number at once is one. A new listener replaces the one before.
    func signals() -> AsyncStream<Void> {
        let (signals, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.lock.withLock { self.listener = listener }
        return signals
    }

    /// Signals that there is something to do.
    func send() { _ = self.lock.withLock { self.listener }?.yield() }

    /// Whether nobody has ever listened, and nobody has asked this before.
    func isFirstTimeUnheard() -> Bool {
        self.lock.withLock {
            defer { self.wasAsked = true }
            return self.listener == nil && !self.wasAsked
        }
    }
}
