// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinReportAnalysis

/// Counts in memory until a task stores them: a request costs no write.
final class ListRequestCounter: Sendable {
    /// The number of unpublished digests that are told apart for each name in an hour. A stranger can name any number
    /// of them.
    static let unpublishedDigests = 32

    private struct State {
        var counts: [ListRequestKey: Int64] = [:]
        var unpublished: [String: Set<String>] = [:]
        var hour: Int64 = 0
        var quota: ListRequestQuota
    }

    private let state: NIOLockedValueBox<State>

    /// Begins with nothing.
    ///
    /// - Parameter seed: A random number, for ``ListRequestQuota``.
    init(seed: UInt64) { self.state = NIOLockedValueBox(State(quota: ListRequestQuota(seed: seed))) }

    /// Counts a question.
    ///
    /// - Parameters:
    ///   - name: The list.
    ///   - digest: The digest that was named; `nil` for none.
    ///   - isPublished: Whether a list with that digest was ever served.
    ///   - source: The source of the request.
    ///   - address: Of whose requests only so many count in an hour; `nil` where all count: what an edge asks, which
    ///     is counted apart, and what comes from this machine.
    ///   - time: Now.
    func count(
        _ name: String, digest: String?, isPublished: Bool, from source: ListRequestKey.Source,
        address: SourceAddress?, at time: Timestamp
    ) {
        let hour = time.hour
        self.state.withLockedValue { state in
            if state.hour != hour {
                state.hour = hour
                state.unpublished = [:]
                state.quota.reset()
            }
            // A request that names no list is in no share, and uses up no part of the quota.
            if digest != nil, let address, let other = state.quota.take(address, for: name).source {
                state.counts[
                    ListRequestKey(name: name, hour: hour, source: other, digest: ListRequestKey.nothing), default: 0] +=
                    1
                return
            }
            var key = ListRequestKey(name: name, hour: hour, source: source, digest: digest ?? ListRequestKey.nothing)
            if let digest, !isPublished {
                var known = state.unpublished[name, default: []]
                if ListedLogs.isDigest(digest), known.count < Self.unpublishedDigests || known.contains(digest) {
                    known.insert(digest)
                    state.unpublished[name] = known
                } else {
                    key = ListRequestKey(name: name, hour: hour, source: source, digest: ListRequestKey.others)
                }
            }
            state.counts[key, default: 0] += 1
        }
    }

    /// Takes what was counted since the last time.
    func take() -> [ListRequestKey: Int64] {
        self.state.withLockedValue { state in
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// Puts back what could not be stored.
    func putBack(_ counts: [ListRequestKey: Int64]) {
        self.state.withLockedValue { $0.counts.merge(counts) { $0 + $1 } }
    }
}

extension ListRequestQuota.Answer {
    /// The source for which a request is counted that does not count for adoption; `nil` for one that does.
    fileprivate var source: ListRequestKey.Source? {
        switch self {
        case .counts: nil
        case .exhausted: .exhausted
        case .surplus: .surplus
        case .crowded: .crowded
        }
    }
}
