// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import CertificateTransparency

/// The log list that the policies of Certificate Transparency of one list are evaluated with.
public enum KnownLogs: Hashable, Sendable {
    /// Policies are not evaluated: the list names no log list, or the question is about a key alone.
    case notAsked
    /// The list names a log list that is not at hand.
    case missing
    /// The log list that the list names.
    case known(LogList)

    /// The same at a time: clients evaluate nothing with a log list that is stale.
    func inForce(at time: Timestamp) -> KnownLogs {
        if case .known(let logs) = self, logs.isStale(at: time) { .notAsked } else { self }
    }
}
