// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import ServiceLifecycle

/// Counts the instances on one store, shares what all sources together may send among them, and looks at the clock for all
/// of them (``BelievedTime``).
///
/// Each instance counts what it takes by itself. All together therefore take no more than the limit, but for
/// ``interval`` after one came, and less for ``absence`` after one was killed. A single source gets its limit at each
/// instance that its requests reach.
struct InstanceHeartbeat: Service {
    /// The interval of counting.
    static let interval: Duration = .seconds(15)
    /// The time without a sign after which an instance is gone, in seconds.
    static let absence: Int64 = 45

    let parts: ServiceParts
    /// The number of instances beside this one when it counted last.
    private let others = NIOLockedValueBox(0)
    /// Whether this instance's clock was believed when it counted last.
    private let isBelieved = NIOLockedValueBox(true)
    private let serverTime: @Sendable (StoreTransaction) throws -> Timestamp?

    /// Watches for an instance.
    ///
    /// - Parameter serverTime: The closure that reads the clock of the database's machine.
    init(
        parts: ServiceParts,
        serverTime: @escaping @Sendable (StoreTransaction) throws -> Timestamp? = { try $0.serverTime() }
    ) {
        self.parts = parts
        self.serverTime = serverTime
    }

    func run() async throws {
        await self.count()
        await Interval.each(Self.interval) { await self.count() }
        let instance = self.parts.instance
        // In a task of its own: this one may be cancelled, as when a listener could not be opened.
        let store = self.parts.store
        let left = Task { try await store.write(as: .leases) { try $0.leave(instance) } }
        do { try await left.value } catch {
            guard self.others.withLockedValue({ $0 }) > 0 else { return }
            self.parts.logger.storeFailed("other instances share the limits with this one for a while", error)
        }
    }

    /// Counts the instances, and looks at the clock: at the earlier one of this machine's and the database's.
    func count() async {
        let (now, instance, serverTime) = (self.parts.clock.now, self.parts.instance, self.serverTime)
        do {
            let (count, believed) = try await self.parts.store.write(as: .leases) { store in
                let believed = try store.lookAtClock(min(now, serverTime(store) ?? now))
                return (try store.stay(instance, at: now, seconds: Self.absence), believed)
            }
            self.say(now, believed)
            self.others.withLockedValue { $0 = count - 1 }
            self.parts.reports.share(among: count)
        } catch { self.parts.logger.storeFailed("the instances cannot be counted", error) }
    }

    /// Says that the clock is not believed, once.
    private func say(_ now: Timestamp, _ believed: BelievedTime) {
        let isBelieved = believed.isBelieved(now)
        let isNew = self.isBelieved.withLockedValue { before in
            defer { before = isBelieved }
            return before && !isBelieved
        }
        guard isNew else { return }
        let shared = believed.shared(by: now)
        self.parts.logger.error(
            """
            the clock shows \(now), and was \(shared) by the last look or by the database's clock: nothing is forgotten \
            beyond that time; set the clock that is wrong, or wait where the new time is right: after a day it counts
            """)
    }
}
