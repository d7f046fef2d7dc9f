// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// One log, as a log list describes it.
public struct TransparencyLog: Hashable, Sendable {
    /// What kind of log it is.
    public enum Kind: String, Hashable, Sendable {
        /// It answers as RFC 6962 says, section 4.
        case rfc6962
        /// It is a tree of static files (static-ct-api): a member of `tiled_logs`.
        case tiled
    }

    /// What the list's publisher makes of the log.
    public enum State: Hashable, Sendable {
        /// It is not accepted yet, or the list does not say.
        case pending
        /// It is accepted, and not yet everywhere.
        case qualified
        /// It is accepted.
        case usable
        /// It is accepted, and signs nothing any more.
        case readOnly
        /// It is not trusted from a time on. What it signed before may count.
        case retired(since: Timestamp)
        /// It was never accepted, or nothing of it counts any more.
        case rejected
    }

    /// Who ran the log up to a time.
    public struct PreviousOperator: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The first moment at which another one ran the log.
        public let end: Timestamp
    }

    /// The log's id.
    public let id: LogID

    /// The log's name for people; it may be empty.
    public let name: String

    /// Who runs it now.
    public let operatorName: String

    /// Who ran it before, the earliest first.
    public let previousOperators: [PreviousOperator]

    /// What kind of log it is.
    public let kind: Kind

    /// What the list's publisher makes of it.
    public let state: State

    /// The ends of certificates that it takes, the upper bound excluded; `nil` for a log that takes any.
    public let interval: Range<Timestamp>?

    /// What verifies its signatures.
    let key: LogKey

    /// Who ran the log at a time.
    ///
    /// - Parameter time: When the log signed.
    public func operatorName(at time: Timestamp) -> String {
        self.previousOperators.first { time < $0.end }?.name ?? self.operatorName
    }

    /// Whether the log is accepted at a time: qualified, usable or read-only, or retired only later.
    ///
    /// - Parameter time: The time of the check.
    func isAccepted(at time: Timestamp) -> Bool {
        switch self.state {
        case .qualified, .usable, .readOnly: true
        case .retired(let since): time < since
        case .pending, .rejected: false
        }
    }
}
