// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension MigratedPins {
    /// Reads the value of `NSPinnedDomains`, as it stands in `NSAppTransportSecurity` of an Info.plist.
    ///
    /// `NSPinnedCAIdentities` become pins of the position `issuer`, `NSPinnedLeafIdentities` of the position `leaf`;
    /// where a host has both, both must match.
    ///
    /// - Throws: ``MigrationError`` when there is no host in it.
    public init(pinnedDomains configuration: [String: Any]) throws(MigrationError) {
        try self.init(pinnedDomains: try ConfigurationValue(copying: configuration))
    }

    /// Reads the value of `NSPinnedDomains`.
    init(pinnedDomains configuration: ConfigurationValue) throws(MigrationError) {
        var reader = PinnedDomainsReader()
        try reader.read(configuration)
        self = try MigratedPins(reader.collector)
    }
}

/// Reads `NSPinnedDomains`.
struct PinnedDomainsReader {
    /// The entries and warnings so far.
    private(set) var collector = MigrationCollector()

    private static let ca = "NSPinnedCAIdentities"
    private static let leaf = "NSPinnedLeafIdentities"

    /// Reads the whole.
    mutating func read(_ configuration: ConfigurationValue) throws(MigrationError) {
        guard case .table(let domains) = configuration else {
            throw MigrationError(
                .malformed, "NSPinnedDomains must be a dictionary of hosts, but this is \(configuration.kind)",
                hint: "write a host, then a dictionary with \(Self.ca) or \(Self.leaf)")
        }
        for (name, value) in domains.sortedMembers { try self.readDomain(name, value) }
        for union in ApplePinnedDomains(reading: configuration).unions {
            self.collector.warn(
                union.host.description, union.array, union.isStricter ? .weaker : .stricter,
                union.isStricter
                    ? "Apple's frameworks join it with \(union.parent): a pin of that must match, too; here the nearest entry "
                        + "alone decides"
                    : "Apple's frameworks join it with \(union.parent): the pins of that match, too; here the nearest entry "
                        + "alone decides")
        }
    }

    private mutating func readDomain(_ name: String, _ value: ConfigurationValue) throws(MigrationError) {
        guard let host = self.collector.host(name, "NSPinnedDomains") else { return }
        guard case .table(let members) = value else {
            self.collector.warn(name, "NSPinnedDomains", .weaker, "left out: \(value.kind) where a dictionary belongs")
            return
        }
        for key in members.keys.sorted() where ![Self.ca, Self.leaf, "NSIncludesSubdomains"].contains(key) {
            self.collector.warn(name, key, .same, "unknown setting; left out")
        }
        var entry = PinnedDomain(host, pins: [])
        if let value = members["NSIncludesSubdomains"] {
            entry.includeSubdomains = self.collector.flag(value, unclear: true, name, "NSIncludesSubdomains", .stricter)
        }
        if entry.includeSubdomains, !host.isAddress {
            let isBoolean = members["NSIncludesSubdomains"] == .flag(true)
            self.collector.warn(
                name, "NSIncludesSubdomains", .stricter,
                (isBoolean ? "Apple's covers one level of subdomains" : "Apple takes all but a boolean for NO")
                    + ", here all levels are covered; an entry with mode off carves a deeper name out")
        }
        let authorities = self.pins(members[Self.ca], .issuer, name, Self.ca)
        let leaves = self.pins(members[Self.leaf], .leaf, name, Self.leaf)
        entry.pins = (leaves ?? []) + (authorities ?? [])
        // A list without a usable pin still demanded a match.
        entry.requireIssuer = authorities != nil && leaves != nil
        try self.collector.add(entry, written: name, authorities == nil ? Self.leaf : Self.ca)
    }

    /// The pins of one of the two arrays; `nil` when it is absent. No key matches an empty one.
    private mutating func pins(
        _ value: ConfigurationValue?, _ position: KnownPin.Position, _ domain: String, _ key: String
    ) -> [KnownPin]? {
        guard let value else { return nil }
        guard case .list(let values) = value else {
            self.collector.warn(domain, key, .stricter, "left out: \(value.kind) where an array belongs")
            return []
        }
        var pins: [KnownPin] = []
        for value in values {
            guard case .table(let members) = value, case .text(let text)? = members["SPKI-SHA256-BASE64"] else {
                self.collector.warn(domain, key, .stricter, "left out: no dictionary with SPKI-SHA256-BASE64")
                continue
            }
            for other in members.keys.sorted() where other != "SPKI-SHA256-BASE64" {
                self.collector.warn(domain, "\(key).\(other)", .same, "unknown setting; left out")
            }
            guard let pin = self.collector.pin(text, of: domain, key) else { continue }
            pins.append(KnownPin(pin, position: position))
        }
        return pins
    }
}
