// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// The members of a report about the list in force, and that list's addresses for reports.
public struct ReportedList: Hashable, Sendable {
    /// The list's name.
    public var name: String
    /// The list's version.
    public var version: Int64
    /// The lower-case hex SHA-256 of its envelope.
    public var digest: String
    /// The time when it becomes stale.
    public var expiresAt: Timestamp
    /// The addresses for reports where no entry has its own.
    public var reportTo: [String]
    /// The root of its place among the lists that come into force.
    package var root: Int64 = 1

    /// Creates the description of a list.
    public init(name: String, version: Int64, digest: String, expiresAt: Timestamp, reportTo: [String]) {
        self.name = name
        self.version = version
        self.digest = digest
        self.expiresAt = expiresAt
        self.reportTo = reportTo
    }

    /// Creates the description of a held list. Hashes its envelope.
    public init(_ held: HeldList) {
        self.init(
            name: held.list.name, version: held.list.version, digest: held.digest, expiresAt: held.list.expiresAt,
            reportTo: held.list.reportTo)
        self.root = held.order.root
    }

    /// The place among the lists that come into force.
    package var order: ListOrder { ListOrder(under: self.root, version: self.version) }

    /// The members of the object `tumbler` that name the list.
    var members: [JSONValue.Member] {
        [
            .init("list-name", .string(self.name)), .init("list-version", .integer(self.version)),
            .init("list-digest", .string(self.digest)),
        ]
    }
}
