// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOConcurrencyHelpers

/// The requests of one server's client that were admitted to a connection with an allowing decision and have no response
/// yet: the second check of ``PinnedHTTPClient``.
///
/// AsyncHTTPClient calls a hook for each connection and each stream. The hook admits the request, before a byte of it is
/// sent. A response for which no request was admitted came past the hooks, and is not handed over.
///
/// A request that fails, or is tried again by AsyncHTTPClient, may leave an admission. There are never more of them than
/// requests that are running: each needs one at most.
final class AdmittedRequests: Sendable {
    private struct Counts {
        var running = 0
        var admitted = 0

        mutating func end() {
            self.running -= 1
            self.admitted = min(self.admitted, self.running)
        }
    }

    private let counts = NIOLockedValueBox(Counts())

    /// A request begins.
    func begin() { self.counts.withLockedValue { $0.running += 1 } }

    /// A connection with an allowing decision takes a request.
    func admit() { self.counts.withLockedValue { $0.admitted = min($0.admitted + 1, $0.running) } }

    /// A request failed.
    func fail() {
        self.counts.withLockedValue { $0.end() }
    }

    /// A request has its response.
    ///
    /// - Returns: Whether a request had been admitted that had no response yet.
    func answer() -> Bool {
        self.counts.withLockedValue { counts in
            let isAdmitted = counts.admitted > 0
            if isAdmitted { counts.admitted -= 1 }
            counts.end()
            return isAdmitted
        }
    }
}
#endif
