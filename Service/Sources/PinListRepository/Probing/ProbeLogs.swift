// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificateTransparency

/// The log lists that a probe evaluates policies of Certificate Transparency with.
///
/// Clients use the one that their list names. The source may name a newer one already, for the next list. What is
/// served is evaluated with both: before a release it is known whether the newer one refuses it.
public struct ProbeLogs: Sendable {
    /// The log list that decides.
    let current: IdentifiedLogs

    /// The log list of the next list; `nil` where that is the same one, or not known.
    let next: IdentifiedLogs?

    /// Puts log lists together.
    ///
    /// - Parameters:
    ///   - current: The log list that the list names; that of the source where the list names none.
    ///   - next: The log list that the source names.
    public init(_ current: IdentifiedLogs, next: IdentifiedLogs? = nil) {
        self.current = current
        self.next = next?.digest == current.digest ? nil : next
    }
}

/// A log list with the digest by which lists name it.
public struct IdentifiedLogs: Sendable {
    /// The lower-case hex SHA-256 of the file.
    let digest: String

    /// The content of the file.
    let logs: LogList
}
