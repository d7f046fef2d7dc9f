// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// The results of a probe of all hosts: what `probe --json` prints, and `--push` sends.
public struct ProbeReport: Sendable, Encodable {
    private struct Named: Encodable {
        let name: String
        let version: Int64
    }

    /// The lists that installations may still hold, as JSON has them.
    private struct Held: Encodable {
        let basis: String
        let versions: [Int64]
        let missing: [String]
        let requests: Int64?
        let period: Int64?
        let why: String?

        init(_ held: HeldLists) {
            (self.versions, self.missing) = (held.versions, held.missing)
            switch held.basis {
            case .measured(let requests, let period):
                (self.basis, self.requests, self.period, self.why) = ("measured", requests, period, nil)
            case .propagation(let seconds, let why):
                (self.basis, self.requests, self.period, self.why) = ("propagation", nil, seconds, why)
            }
        }
    }

    /// The time of the probe.
    public let at: Timestamp
    /// The name of the list.
    public let name: String
    /// The version of the list.
    public let version: Int64
    /// The lists that installations may still hold; `nil` where the one list alone was looked at.
    public let held: HeldLists?
    /// The hosts, in the order in which they were asked for.
    public private(set) var hosts: [ProbedHost]

    /// Puts hosts together.
    ///
    /// - Parameters:
    ///   - list: The list that they were evaluated by.
    ///   - held: The lists that installations may still hold, by which they were evaluated as well.
    ///   - time: The time of the probe.
    ///   - hosts: The hosts.
    public init(_ list: PinList, held: HeldLists? = nil, at time: Timestamp, _ hosts: [ProbedHost]) {
        self.at = time
        self.held = held
        (self.name, self.version) = (list.name, list.version)
        self.hosts = hosts
    }

    /// Whether users are locked out, or a certificate ends soon or is revoked.
    public var needsAction: Bool {
        self.hosts.contains { [.locksOut, .endsSoon, .revoked].contains($0.state) }
    }

    /// Whether a host could not be asked.
    public var isIncomplete: Bool { self.hosts.contains { $0.state == .unknown } }

    /// The report of some hosts alone.
    public func only(_ hosts: Set<HostName>) -> ProbeReport {
        var report = self
        report.hosts = self.hosts.filter { hosts.contains($0.host) }
        return report
    }

    enum CodingKeys: CodingKey { case at, list, held, hosts }

    /// Writes the report.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.at.description, forKey: .at)
        try container.encode(Named(name: self.name, version: self.version), forKey: .list)
        try container.encode(self.held.map(Held.init), forKey: .held)
        try container.encode(self.hosts, forKey: .hosts)
    }
}
