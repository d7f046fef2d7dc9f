// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// Apple's frameworks take the pins of an entry together with those of the entry one label above that covers subdomains
/// (``ApplePinnedDomains``). Here the nearest entry replaces the others.
extension OutgoingRules {
    /// Warns where that accepts more, or refuses more.
    mutating func warnOfUnions(among entries: [OutgoingEntry]) {
        let written = Dictionary(entries.map { ($0.entry.domain, $0) }) { first, _ in first }
        for child in entries {
            let host = child.entry.domain
            let labels = host.description.split(separator: ".")
            guard !host.isAddress, labels.count > 1,
                let above = try? HostName(labels.dropFirst().joined(separator: ".")), let parent = written[above],
                parent.entry.includeSubdomains
            else { continue }
            self.warn(of: Self.lists(of: child), under: Self.lists(of: parent), host.description, above.description)
        }
    }

    /// The digests of Apple's two lists: leaf and authorities.
    private static func lists(of outgoing: OutgoingEntry) -> [(name: String, digests: Set<String>)] {
        [
            ("NSPinnedLeafIdentities", Set(outgoing.digests { $0 != .issuer })),
            ("NSPinnedCAIdentities", Set(outgoing.digests { $0 == .issuer })),
        ]
    }

    private mutating func warn(
        of child: [(name: String, digests: Set<String>)], under parent: [(name: String, digests: Set<String>)],
        _ host: String, _ above: String
    ) {
        for (own, other) in zip(child, parent) where !other.digests.isEmpty {
            if own.digests.isEmpty {
                self.collector.warn(
                    host, own.name, .stricter,
                    "Apple's frameworks join it with \(above), which has pins in this list: one of those must match, too"
                )
            } else if !other.digests.isSubset(of: own.digests) {
                self.collector.warn(
                    host, own.name, .weaker, "Apple's frameworks join it with \(above): the pins of that match, too")
            }
        }
    }
}
