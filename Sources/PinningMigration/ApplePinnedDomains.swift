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
    private struct Entry {
        var includeSubdomains = false
        var leaves: Set<[UInt8]>?
        var authorities: Set<[UInt8]>?
    }

    private let entries: [HostName: Entry]

    /// Reads the value of `NSPinnedDomains`, as it stands in `NSAppTransportSecurity` of an Info.plist. Parts that
    /// Apple's reader ignores are ignored.
    ///
    /// - Throws: ``MigrationError`` for a value that is larger than any configuration.
    public init(_ configuration: [String: Any]) throws(MigrationError) {
        guard case .table(let domains) = try ConfigurationValue(copying: configuration) else {
            self.entries = [:]
            return
        }
        var entries: [HostName: Entry] = [:]
        for (name, value) in domains.sortedMembers {
            guard let host = try? HostName(name), case .table(let members) = value else { continue }
            entries[host] = Entry(
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

    /// The entry of the host and that of its parent, which covers one level of subdomains.
    private func entries(for host: HostName) -> [Entry] {
        let exact = self.entries[host].map { [$0] } ?? []
        guard !host.isAddress, let dot = host.description.firstIndex(of: "."),
            let parent = try? HostName(String(host.description[dot...].dropFirst())),
            let entry = self.entries[parent], entry.includeSubdomains
        else { return exact }
        return exact + [entry]
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
