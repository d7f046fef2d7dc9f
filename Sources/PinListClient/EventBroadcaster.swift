// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging

/// Hands events to observers. A slow observer loses its oldest events and delays no other.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class EventBroadcaster: @unchecked Sendable {
    /// The maximum number of events that wait for a slow observer, and of past events for a new one.
    static let kept = 64

    private let logger: Logger?
    private let lock = NSLock()
    private var past: [PinningEvent] = []
    private var observers: [UUID: AsyncStream<PinningEvent>.Continuation] = [:]

    /// Creates a hub.
    ///
    /// - Parameter logger: A logger that receives all events, too.
    init(logger: Logger?) { self.logger = logger }

    /// Sends an event to all observers.
    func send(_ event: PinningEvent) {
        let observers = self.lock.withLock {
            self.past.append(event)
            if self.past.count > Self.kept { self.dropOneFromThePast() }
            return Array(self.observers.values)
        }
        for observer in observers { observer.yield(event) }
        self.logger?.log(
            level: event.kind.isTrouble ? .warning : .info, "\(event.detail)",
            metadata: ["event": .string(event.kind.description)])
    }

    /// Drops the oldest event of the most frequent kind: what a server or a network repeats pushes out no event of another
    /// kind.
    private func dropOneFromThePast() {
        var counts: [PinningEvent.Kind: Int] = [:]
        for event in self.past { counts[event.kind, default: 0] += 1 }
        let most = counts.values.max()
        guard let oldest = self.past.firstIndex(where: { counts[$0.kind] == most }) else { return }
        self.past.remove(at: oldest)
    }

    /// The past events that are kept, and all later ones.
    func events() -> AsyncStream<PinningEvent> {
        let id = UUID()
        let (events, observer) = AsyncStream.makeStream(
            of: PinningEvent.self, bufferingPolicy: .bufferingNewest(2 * Self.kept))
        observer.onTermination = { [weak self] _ in
            guard let self else { return }
            self.lock.withLock { self.observers[id] = nil }
        }
        self.lock.withLock {
            for event in self.past { observer.yield(event) }
            self.observers[id] = observer
        }
        return events
    }

    /// The past events that are kept.
    var kept: [PinningEvent] { self.lock.withLock { self.past } }
}
