// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging

/// Hands events to observers. One that is slow loses its oldest events, and holds up nobody.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class EventBroadcaster: @unchecked Sendable {
    /// How many events wait for a slow observer, and how many of the past a new one is told.
    static let kept = 64

    private let logger: Logger?
    private let lock = NSLock()
    private var past: [PinningEvent] = []
    private var observers: [UUID: AsyncStream<PinningEvent>.Continuation] = [:]

    /// Creates a hub.
    ///
    /// - Parameter logger: Is told everything, too.
    init(logger: Logger?) { self.logger = logger }

    /// Tells everybody.
    func send(_ event: PinningEvent) {
        let observers = self.lock.withLock {
            self.past.append(event)
            if self.past.count > Self.kept { self.past.removeFirst() }
            return Array(self.observers.values)
        }
        for observer in observers { observer.yield(event) }
        self.logger?.log(
            level: event.kind.isTrouble ? .warning : .info, "\(event.detail)",
            metadata: ["event": .string(event.kind.description)])
    }

    /// The events of the past that are kept, and those to come.
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

    /// The events of the past that are kept.
    var kept: [PinningEvent] { self.lock.withLock { self.past } }
}
