// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// What a probe found at all hosts: what `probe --json` prints, and `--push` sends.
public struct ProbeReport: Sendable, Encodable {
    private struct Named: Encodable {
        let name: String
        let version: Int64
    }

    /// When it was made.
    public let at: Timestamp
    /// The name of the list.
    public let name: String
    /// The version of the list.
    public let version: Int64
    /// The hosts, in the order in which they were asked for.
    public let hosts: [ProbedHost]

    /// Puts hosts together.
    ///
    /// - Parameters:
    ///   - list: The list that they were judged by.
    ///   - time: When.
    ///   - hosts: The hosts.
    public init(_ list: PinList, at time: Timestamp, _ hosts: [ProbedHost]) {
        self.at = time
        (self.name, self.version) = (list.name, list.version)
        self.hosts = hosts
    }

    /// Whether somebody is locked out, or a certificate ends soon.
    public var needsSomebody: Bool { self.hosts.contains { $0.state == .locksOut || $0.state == .endsSoon } }

    /// Whether a host could not be asked.
    public var isIncomplete: Bool { self.hosts.contains { $0.state == .unknown } }

    enum CodingKeys: CodingKey { case at, list, hosts }

    /// Writes the report.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.at.description, forKey: .at)
        try container.encode(Named(name: self.name, version: self.version), forKey: .list)
        try container.encode(self.hosts, forKey: .hosts)
    }
}
