// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ServiceLifecycle

/// Says in the audit log how many entries an instance did not write: when a day is over, and when the instance ends.
struct UnwrittenEntryRecorder: Service {
    /// How often it looks whether a day is over.
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
            self.logger.warning("how many entries of the audit log were not written could not be stored: \(error)")
        }
    }
}
