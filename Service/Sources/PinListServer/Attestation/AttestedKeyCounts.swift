// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore

/// The numbers of keys that are registered for each list, as of some minutes ago: counting goes through all of them, and a
/// storm of reports leaves millions. The first count is waited for; after that nothing waits for one.
final class AttestedKeyCounts: Sendable {
    /// The time for which a count is good, in seconds.
    static let lifetime = 600.0
    /// The time after a first count that failed without another one, in seconds: until then there is no number to show.
    static let retry = 60.0

    private struct State {
        var counts: [String: Int64]?
        /// The uptime from which they are counted again; `nil` before the first time.
        var dueAt: Double?
    }

    private let state = NIOLockedValueBox(State())

    /// The last counts; empty before the first one. A new count is begun where they are too old.
    ///
    /// - Parameter uptime: Seconds of a clock that nobody sets.
    func counts(
        of names: Set<String>, in store: any ServiceStore, uptime: Double, _ logger: Logger
    ) async -> [String: Int64] {
        let (isDue, isFirst) = self.state.withLockedValue { state in
            // One that counts is enough; meanwhile, and after a failure, the counts before it are good.
            guard !names.isEmpty, state.dueAt.map({ $0 <= uptime }) ?? true else { return (false, false) }
            let isFirst = state.counts == nil
            state.dueAt = uptime + (isFirst ? Self.retry : Self.lifetime)
            return (true, isFirst)
        }
        if isDue {
            let count = Task {
                do {
                    let counts = try await store.read { try $0.attestedKeyCounts(of: names) }
                    self.state.withLockedValue { ($0.counts, $0.dueAt) = (counts, uptime + Self.lifetime) }
                } catch { logger.storeFailed("the registered keys could not be counted", error) }
            }
            if isFirst { await count.value }
        }
        return self.state.withLockedValue { $0.counts ?? [:] }
    }

    /// Counts a key that was registered here since.
    func registered(for name: String) { self.state.withLockedValue { $0.counts?[name]? += 1 } }
}
