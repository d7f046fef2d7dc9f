// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A log as a log list describes it.
public struct TransparencyLog: Hashable, Sendable {
    /// The kind of log.
    public enum Kind: String, Hashable, Sendable {
        /// A log with the interface of RFC 6962, section 4.
        case rfc6962
        /// A tree of static files (static-ct-api): a member of `tiled_logs`.
        case tiled
    }

    /// The state that the list's publisher gives a log.
    public enum State: Hashable, Sendable {
        /// The log is not accepted yet, or the list does not say.
        case pending
        /// The log is accepted, but not yet everywhere.
        case qualified
        /// The log is accepted.
        case usable
        /// The log is accepted, but signs nothing any more.
        case readOnly
        /// The log is not trusted from a time on. Earlier timestamps may count.
        case retired(since: Timestamp)
        /// The log was never accepted, or none of its timestamps counts any more.
        case rejected
    }

    /// An earlier operator, up to a time.
    public struct PreviousOperator: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The first moment at which another operator ran the log.
        public let end: Timestamp
    }

    /// The log's id.
    public let id: LogID

    /// The log's name for people; may be empty.
    public let name: String

    /// The operator today.
    public let operatorName: String

    /// The earlier operators, the earliest first.
    public let previousOperators: [PreviousOperator]

    /// The kind of log.
    public let kind: Kind

    /// The state that the list's publisher gives it.
    public let state: State

    /// The interval of `notAfter` of the certificates that the log accepts, the upper bound excluded; `nil` for a log
    /// that accepts any.
    public let interval: Range<Timestamp>?

    /// The key that verifies its signatures.
    let key: LogKey

    /// The operator of the log at a time.
    ///
    /// - Parameter time: The time when the log signed.
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
