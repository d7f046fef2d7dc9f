// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import ServiceLifecycle

/// Counts the instances on one store, and shares what all sources together may send among them.
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

    /// Watches for an instance.
    init(parts: ServiceParts) { self.parts = parts }

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

    /// Counts the instances.
    func count() async {
        let (now, instance) = (self.parts.clock.now, self.parts.instance)
        do {
            let count = try await self.parts.store.write(as: .leases) {
                try $0.stay(instance, at: now, seconds: Self.absence)
            }
            self.others.withLockedValue { $0 = count - 1 }
            self.parts.reports.share(among: count)
        } catch { self.parts.logger.storeFailed("the instances cannot be counted", error) }
    }
}
