// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The sightings of a monitor so far.
///
/// A sighting stays, also after the tool that attached or changed something has left.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class SightingLedger: @unchecked Sendable {
    /// The maximum number of names: twice as many as this module has, for an app's own.
    static let maximum = 64
    /// The maximum number of signals that wait for a slow observer: each name once, before any is taken.
    static let waiting = 64

    private let lock = NSLock()
    private var seen: [TamperSighting] = []
    private var blind: [BlindSpot] = []
    private var observers: [UInt64: AsyncStream<TamperSignal>.Continuation] = [:]
    private var nextObserver: UInt64 = 0
    private var hasWiped = false
    private var hasEnded = false

    /// Stores an answer, and sends the observers new signals.
    @inline(__always)
    func keep(_ answer: DetectorAnswer, at now: UInt64) {
        guard !answer.signals.isEmpty || !answer.blindSpots.isEmpty else { return }
        let (fresh, observers) = self.lock.withLock {
            var fresh: [TamperSignal] = []
            for signal in answer.signals {
                if let index = self.seen.firstIndex(where: { $0.signal.name == signal.name }) {
                    self.seen[index].lastSeen = now
                    guard signal.confidence > self.seen[index].signal.confidence else { continue }
                    self.seen[index].signal = signal
                } else {
                    guard self.seen.count < Self.maximum else { continue }
                    self.seen.append(TamperSighting(signal: signal, firstSeen: now, lastSeen: now))
                }
                fresh.append(signal)
            }
            for spot in answer.blindSpots where self.blind.count < Self.maximum && !self.blind.contains(spot) {
                self.blind.append(spot)
            }
            return (fresh, Array(self.observers.values))
        }
        for signal in fresh { for observer in observers { observer.yield(signal) } }
    }

    /// The sightings, in the order of their first times.
    var sightings: [TamperSighting] { self.lock.withLock { self.seen } }

    /// The blind spots.
    var blindSpots: [BlindSpot] { self.lock.withLock { self.blind } }

    /// A stream of the sightings so far and of later ones.
    func changes() -> AsyncStream<TamperSignal> {
        let (signals, observer) = AsyncStream.makeStream(
            of: TamperSignal.self, bufferingPolicy: .bufferingNewest(Self.waiting))
        let id = self.lock.withLock {
            for sighting in self.seen { observer.yield(sighting.signal) }
            self.nextObserver += 1
            self.observers[self.nextObserver] = observer
            return self.nextObserver
        }
        observer.onTermination = { [weak self] _ in
            guard let self else { return }
            self.lock.withLock { self.observers[id] = nil }
        }
        return signals
    }

    /// Whether wiping or ending is due now; each is done once.
    func takeDue(_ decision: TamperDecision) -> (wipes: Bool, ends: Bool) {
        self.lock.withLock {
            let due = (decision.wipes && !self.hasWiped, decision.ends && !self.hasEnded)
            self.hasWiped = self.hasWiped || decision.wipes
            self.hasEnded = self.hasEnded || decision.ends
            return due
        }
    }
}

/// A signal with the times when it was seen.
public struct TamperSighting: Hashable, Sendable {
    /// The signal, with the highest confidence so far.
    public var signal: TamperSignal

    /// The time of the first sighting, in the clock's nanoseconds.
    public let firstSeen: UInt64

    /// The time of the last sighting.
    public var lastSeen: UInt64
}
