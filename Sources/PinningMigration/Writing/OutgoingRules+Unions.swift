// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// Apple's frameworks take the pins of an entry together with those of the entry one label above that covers subdomains
/// (``ApplePinnedDomains``). Here the nearest entry replaces the others.
extension OutgoingRules {
    /// Warns where that accepts more, or refuses more.
    mutating func warnOfUnions(among entries: [OutgoingEntry]) {
        let written = ApplePinnedDomains(
            entries: Dictionary(entries.map { ($0.entry.domain, Self.entry($0)) }) { first, _ in first })
        for union in written.unions {
            self.collector.warn(
                union.host.description, union.array, union.isStricter ? .stricter : .weaker,
                union.isStricter
                    ? "Apple's frameworks join it with \(union.parent), which has pins in this list: one of those must "
                        + "match, too"
                    : "Apple's frameworks join it with \(union.parent): the pins of that match, too")
        }
    }

    /// The entry as Apple's frameworks read it: an array without pins is not written.
    private static func entry(_ outgoing: OutgoingEntry) -> ApplePinnedDomains.Entry {
        func digests(_ isTaken: (KnownPin.Position) -> Bool) -> Set<[UInt8]>? {
            let pins = outgoing.entry.pins.filter { isTaken($0.position) }
            return pins.isEmpty ? nil : Set(pins.map(\.pin.digest))
        }
        return ApplePinnedDomains.Entry(
            includeSubdomains: outgoing.entry.includeSubdomains, leaves: digests { $0 != .issuer },
            authorities: digests { $0 == .issuer })
    }
}
