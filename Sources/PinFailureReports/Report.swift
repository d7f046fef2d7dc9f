// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One report: what is sent, to whom, and what it is the same as.
///
/// Source: formats.md, section 5.
public struct Report: Hashable, Sendable {
    /// What it is the same as.
    public let identity: ReportIdentity

    /// UTF-8 JSON.
    public let body: [UInt8]

    /// The same without certificates and without an envelope, for when there is no room for them.
    public let briefBody: [UInt8]

    /// The version of the list that it names; `nil` without a list. Of identical reports the newest version is carried.
    public let listVersion: Int64?

    /// Where it goes: to each of them. Never empty.
    public let addresses: [String]

    /// The media type of ``body``.
    public static let contentType = "application/json"

    init?(
        _ identity: ReportIdentity, listVersion: Int64?, to addresses: [String], body: [UInt8], brief: [UInt8]
    ) {
        guard !addresses.isEmpty else { return nil }
        self.identity = identity
        self.listVersion = listVersion
        self.addresses = Array(addresses.prefix(ReportLimits.addresses))
        self.body = body
        self.briefBody = brief
    }
}
