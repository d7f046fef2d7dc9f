// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
internal import PinListMetadata
public import PinRotation

/// The observations of earlier probes, so that the next one can say what is new: the issuer of each host's certificate,
/// and the pins that were ever seen. A file of the operator's own machine. `lint` goes by what it says of Certificate
/// Transparency, and `rotate` by what it says of the keys of a rotation.
public struct ProbeMemory: Hashable, Sendable {
    /// The observation of one host.
    struct Sight: Codable, Hashable, Sendable {
        /// The time of the last observation.
        var at: String
        /// The pin of the certificate above the leaf.
        var issuer: String
        /// The name of the issuer, by the leaf.
        var issuerName: String
        /// The pins of the entry that were ever seen in a path, sorted.
        var pins: [String]
        /// The policies of Certificate Transparency that were satisfied at every address by embedded timestamps,
        /// sorted, for each log list that they were evaluated with, by its SHA-256; `nil` where that was not looked at.
        /// What earlier versions kept as `transparency` says of no log list, and is not read.
        var satisfied: [String: [String]]?
    }

    /// The observation of the keys of one host's rotation.
    struct RotationSight: Codable, Hashable, Sendable {
        /// The new key's pin: what was seen of another rotation says nothing of this one.
        var new: String
        /// The old keys' pins, sorted: nothing was looked for that another plan calls old.
        var old: [String]?
        /// The time at which every address was last probed.
        var at: String
        /// The time since which each probe saw the new key everywhere.
        var newEverywhereSince: String?
        /// The time since which no probe saw an old key.
        var oldNowhereSince: String?
    }

    private struct File: Codable {
        let schema: Int
        let hosts: [String: Sight]
        let rotations: [String: RotationSight]?
        let looked: [String]?
    }

    /// The maximum number of bytes of the file: 10,000 hosts with all that can be seen of them.
    public static let maximumLength = 16 << 20

    private static let schema = 1

    /// The observations, by host.
    private(set) var hosts: [String: Sight] = [:]

    /// The observations of rotations, by host.
    private var rotations: [String: RotationSight] = [:]

    /// The hosts that looks of rotations saw: a person named them, and perhaps no probe ever asked them.
    private var looked: Set<String> = []

    /// Remembers nothing.
    public init() {}

    /// Reads a file, or gives `nil` when it is none of this kind.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumLength,
            let file = try? JSONDecoder().decode(File.self, from: Data(bytes)), file.schema == Self.schema
        else { return nil }
        self.hosts = file.hosts
        self.rotations = file.rotations ?? [:]
        self.looked = Set(file.looked ?? [])
    }

    /// The file.
    public var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(self.file)) ?? Data())
    }

    private var file: File {
        File(
            schema: Self.schema, hosts: self.hosts, rotations: self.rotations.isEmpty ? nil : self.rotations,
            looked: self.looked.isEmpty ? nil : self.looked.sorted())
    }

    /// The last observation of a rotation's keys: by this machine, or as the plan has it.
    public func sightings(of plan: RotationPlan, at time: Timestamp) -> KeySightings? {
        guard let sight = self.rotations[plan.host.description], sight.new == plan.new.pin.description,
            sight.old == Self.old(of: plan), let at = try? Timestamp(sight.at)
        else { return plan.sightings }
        let own = KeySightings(
            at: at, newEverywhereSince: sight.newEverywhereSince.flatMap { try? Timestamp($0) },
            oldNowhereSince: sight.oldNowhereSince.flatMap { try? Timestamp($0) })
        guard let planned = plan.sightings else { return own }
        return KeySightings.last(planned, own, at: time)
    }

    /// Keeps what was seen of a rotation's keys.
    public mutating func keep(_ sightings: KeySightings, of plan: RotationPlan) {
        self.rotations[plan.host.description] = RotationSight(
            new: plan.new.pin.description, old: Self.old(of: plan), at: sightings.at.description,
            newEverywhereSince: sightings.newEverywhereSince?.description,
            oldNowhereSince: sightings.oldNowhereSince?.description)
    }

    private static func old(of plan: RotationPlan) -> [String] { plan.old.map(\.pin.description).sorted() }

    /// Keeps that a look of a rotation saw a host, so that later looks ask it as well.
    public mutating func keep(looked host: HostName) { self.looked.insert(host.description) }

    /// Keeps what is seen now.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - path: Its validated path, leaf first.
    ///   - pins: The pins of its entry that are in the path.
    ///   - time: The time of the probe.
    /// - Returns: The earlier observation of the host.
    mutating func keep(_ host: HostName, _ path: [ProbedCertificate], pins: Set<String>, at time: Timestamp) -> Sight? {
        let before = self.hosts[host.description]
        guard let leaf = path.first, let issuer = (path.count > 1 ? path[1] : leaf).pin else { return before }
        self.hosts[host.description] = Sight(
            at: time.description, issuer: issuer, issuerName: leaf.issuer,
            pins: pins.union(before?.pins ?? []).sorted())
        return before
    }

    /// Adds pins that were seen at other addresses of a host that is remembered.
    mutating func add(pins: Set<String>, of host: HostName) {
        guard let sight = self.hosts[host.description] else { return }
        self.hosts[host.description]?.pins = pins.union(sight.pins).sorted()
    }

    /// Keeps which policies of Certificate Transparency are satisfied at every address of a host that is remembered.
    ///
    /// - Parameters:
    ///   - policies: The policies for each log list of the probe, by its SHA-256; `nil` where that is not known. They
    ///     take the place of those of earlier probes.
    ///   - host: The host.
    mutating func keep(satisfied policies: [String: Set<TransparencyRule.Policy>]?, at host: HostName) {
        self.hosts[host.description]?.satisfied = policies.map { all in
            all.mapValues { policies in policies.map(\.rawValue).sorted() }
        }
    }

    /// The policies of Certificate Transparency that the last probe saw satisfied at every address of a host with a log
    /// list; `nil` where it did not look with that one.
    func satisfiedPolicies(at host: HostName, with logs: ListedLogs?) -> Set<TransparencyRule.Policy>? {
        guard let logs, let policies = self.hosts[host.description]?.satisfied?[logs.digest] else { return nil }
        return Set(policies.compactMap { TransparencyRule.Policy(rawValue: $0) })
    }

    /// The hosts that were seen and are below a domain, or it.
    func hosts(below domain: HostName, where isIncluded: (HostName) -> Bool) -> [HostName] {
        let suffix = ".\(domain)"
        return self.hosts.keys.filter { $0 == domain.description || $0.hasSuffix(suffix) }.sorted()
            .compactMap { try? HostName($0) }.filter(isIncluded)
    }

    /// The hosts that a probe or a look of a rotation ever saw, sorted.
    func hosts(where isIncluded: (HostName) -> Bool) -> [HostName] {
        self.looked.union(self.hosts.keys).sorted().compactMap { try? HostName($0) }.filter(isIncluded)
    }

    /// The pins of its entry that were ever seen at a host.
    public func pins(of host: HostName) -> Set<String> { Set(self.hosts[host.description]?.pins ?? []) }
}
