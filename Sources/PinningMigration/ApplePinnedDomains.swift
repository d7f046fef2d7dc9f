// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The decisions of Apple's frameworks under `NSPinnedDomains`, for a comparison with those of a list.
///
/// Source: the published source of Security.framework (`SecPolicy.c`, `SecPolicyServer.c`). The leaf pins of all
/// entries that match a host are taken together, and so are their CA pins; a path has to satisfy both. A list's nearest
/// entry replaces the others instead, so nested entries may differ either way.
public struct ApplePinnedDomains: Sendable {
    /// The pins of a host; `nil` for an array that is absent.
    struct Entry {
        var includeSubdomains = false
        var leaves: Set<[UInt8]>?
        var authorities: Set<[UInt8]>?
    }

    /// An array that is taken together with that of the entry one label above, so that another decision comes out than
    /// by the nearest entry alone.
    @_spi(Tools) public struct Union: Hashable, Sendable {
        /// The host of the entry.
        public let host: HostName
        /// The host of the entry above.
        public let parent: HostName
        /// The array: `NSPinnedLeafIdentities` or `NSPinnedCAIdentities`.
        public let array: String
        /// Whether a pin of the parent must match, too, since the entry has no such array. Otherwise the pins of the
        /// parent match beside its own.
        public let isStricter: Bool
    }

    private let entries: [HostName: Entry]

    /// Takes entries as they are.
    init(entries: [HostName: Entry]) { self.entries = entries }

    /// Reads the value of `NSPinnedDomains`, as it stands in `NSAppTransportSecurity` of an Info.plist. Parts that
    /// Apple's reader ignores are ignored.
    ///
    /// - Throws: ``MigrationError`` for a value that is larger than any configuration.
    public init(_ configuration: [String: Any]) throws(MigrationError) {
        self.init(reading: try ConfigurationValue(copying: configuration))
    }

    /// Reads the value of `NSPinnedDomains`.
    @_spi(Tools) public init(reading configuration: ConfigurationValue) {
        guard case .table(let domains) = configuration else {
            self.entries = [:]
            return
        }
        var entries: [HostName: Entry] = [:]
        for (name, value) in domains.sortedMembers {
            guard let host = try? HostName(name), case .table(let members) = value else { continue }
            entries[host] = Entry(
                // Apple's reader compares with the boolean itself: a number or a text is NO to it.
                includeSubdomains: members["NSIncludesSubdomains"] == .flag(true),
                leaves: Self.pins(members["NSPinnedLeafIdentities"]),
                authorities: Self.pins(members["NSPinnedCAIdentities"]))
        }
        self.entries = entries
    }

    /// The digests of an array; `nil` where it is absent. Of a present one a pin must match, also when none of its pins
    /// can be read.
    private static func pins(_ value: ConfigurationValue?) -> Set<[UInt8]>? {
        guard case .list(let values)? = value else { return nil }
        return Set(
            values.compactMap { value in
                guard case .table(let members) = value, case .text(let text)? = members["SPKI-SHA256-BASE64"] else {
                    return nil
                }
                return Base64.decode(text.utf8)
            })
    }

    /// The host one label above, where its entry covers subdomains.
    private func parent(of host: HostName) -> HostName? {
        guard !host.isAddress, let dot = host.description.firstIndex(of: "."),
            let parent = try? HostName(String(host.description[dot...].dropFirst())),
            self.entries[parent]?.includeSubdomains == true
        else { return nil }
        return parent
    }

    /// The entry of the host and that of its parent, which covers one level of subdomains.
    private func entries(for host: HostName) -> [Entry] {
        [self.entries[host], self.parent(of: host).flatMap { self.entries[$0] }].compactMap { $0 }
    }

    /// The unions, by host.
    @_spi(Tools) public var unions: [Union] {
        self.entries.keys.sorted { $0.description < $1.description }.flatMap { self.unions(of: $0) }
    }

    private func unions(of host: HostName) -> [Union] {
        guard let entry = self.entries[host], let parent = self.parent(of: host), let above = self.entries[parent]
        else {
            return []
        }
        let arrays = [
            ("NSPinnedLeafIdentities", entry.leaves, above.leaves),
            ("NSPinnedCAIdentities", entry.authorities, above.authorities),
        ]
        return arrays.compactMap { name, own, other in
            guard let other, own.map({ !other.isSubset(of: $0) }) ?? true else { return nil }
            return Union(host: host, parent: parent, array: name, isStricter: own == nil)
        }
    }

    /// The SHA-256 digests of a host's pins, of all its entries; `nil` for a host without pins.
    @_spi(Tools) public func digests(for host: HostName) -> Set<[UInt8]>? {
        guard self.isPinned(host) else { return nil }
        return self.entries(for: host).reduce(into: []) { digests, entry in
            digests.formUnion(entry.leaves ?? [])
            digests.formUnion(entry.authorities ?? [])
        }
    }

    /// Whether a host has expected pins.
    public func isPinned(_ host: HostName) -> Bool {
        self.entries(for: host).contains { $0.leaves != nil || $0.authorities != nil }
    }

    /// Whether a path is accepted that the system has validated.
    ///
    /// - Parameters:
    ///   - keys: The SHA-256 of each SubjectPublicKeyInfo of the path, leaf first.
    ///   - host: The host that the connection is made for.
    public func accepts(keys: [[UInt8]], for host: HostName) -> Bool {
        let entries = self.entries(for: host)
        let leaves = entries.compactMap(\.leaves)
        let authorities = entries.compactMap(\.authorities)
        let isLeafRight = leaves.isEmpty || keys.first.map { key in leaves.contains { $0.contains(key) } } ?? false
        let isAuthorityRight =
            authorities.isEmpty || keys.dropFirst().contains { key in authorities.contains { $0.contains(key) } }
        return isLeafRight && isAuthorityRight
    }
}
