// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PinListStore
internal import ServiceLifecycle

/// Stores what was counted, now and then and at the end.
struct ListRequestRecorder: Service {
    /// The interval of writing: what was counted since is lost when the machine fails.
    static let interval: Duration = .seconds(10)

    let counter: ListRequestCounter
    let store: any ServiceStore
    /// The instance that counts.
    var instance = ""
    let logger: Logger

    func run() async throws {
        await Interval.each(Self.interval) { await self.record() }
        await self.record()
    }

    /// Stores what was counted since the last time.
    func record() async {
        let counts = self.counter.take()
        guard !counts.isEmpty else { return }
        let instance = self.instance
        do { try await self.store.append { try $0.add(counts, countedBy: instance) } } catch {
            self.counter.putBack(counts)
            self.logger.storeFailed("the counts of held lists could not be stored, and are kept until they can", error)
        }
    }
}
