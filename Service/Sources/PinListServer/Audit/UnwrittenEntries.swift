// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import PinReportAnalysis
internal import ServiceLifecycle

/// Counts the entries of the audit log that an instance did not write, because their token had no room left on that day
/// (``AuditQuota``): by token, action and day.
final class UnwrittenEntries: Sendable {
    /// The action of the entry that says how many were not written.
    static let action = "not-written"

    /// The entries that are counted together.
    struct Key: Hashable, Comparable, Sendable {
        /// The day (UTC), in days since 1970.
        let day: Int64
        /// The name of the token in the log.
        let actor: String
        /// The action of the entries.
        let action: String

        /// The earlier day comes first.
        static func < (left: Key, right: Key) -> Bool {
            (left.day, left.actor, left.action) < (right.day, right.actor, right.action)
        }
    }

    private let counts = NIOLockedValueBox<[Key: Int64]>([:])

    /// Counts an entry that was not written. Tokens are made by operators: there are as many keys as these have tokens.
    func add(_ action: String, by actor: String, at time: Timestamp) {
        let key = Key(day: time.hour / 24, actor: actor, action: action)
        self.counts.withLockedValue { counts in
            let (sum, isOver) = (counts[key] ?? 0).addingReportingOverflow(1)
            counts[key] = isOver ? .max : sum
        }
    }

    /// Takes what was counted on days before one.
    func take(before day: Int64) -> [Key: Int64] {
        self.counts.withLockedValue { counts in
            let taken = counts.filter { $0.key.day < day }
            for key in taken.keys { counts[key] = nil }
            return taken
        }
    }

    /// Counts again what could not be stored.
    func putBack(_ taken: [Key: Int64]) {
        self.counts.withLockedValue { counts in
            counts.merge(taken) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
        }
    }
}

extension StoreTransaction {
    /// Says in the audit log how many entries were not written: one line for each token, action and day.
    func log(_ unwritten: [UnwrittenEntries.Key: Int64], at time: Timestamp) throws {
        for (key, count) in unwritten.sorted(by: { $0.key < $1.key }) {
            let day = Timestamp(secondsSince1970: key.day.multipliedReportingOverflow(by: 86_400).partialValue)
            try self.log(
                UnwrittenEntries.action,
                "\(key.actor): \(count) further entries \(key.action) of \(day.description.prefix(10)) were not written",
                by: "service", at: time)
        }
    }
}

/// Says in the audit log how many entries an instance did not write: when a day is over, and when the instance ends.
struct UnwrittenEntryRecorder: Service {
    /// The interval of checks whether a day is over.
    static let interval: Duration = .seconds(60)

    let entries: UnwrittenEntries
    let store: any ServiceStore
    let clock: any ServiceClock
    let logger: Logger

    func run() async throws {
        await Interval.each(Self.interval) { await self.record(before: self.clock.now.hour / 24) }
        await self.record(before: .max)
    }

    /// Writes what was counted on days before one.
    func record(before day: Int64) async {
        let (taken, now) = (self.entries.take(before: day), self.clock.now)
        guard !taken.isEmpty else { return }
        do { try await self.store.write { try $0.log(taken, at: now) } } catch {
            self.entries.putBack(taken)
            self.logger.storeFailed("how many entries of the audit log were not written could not be stored", error)
        }
    }
}
