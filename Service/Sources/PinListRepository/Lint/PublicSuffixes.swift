// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPublicSuffixes
public import CertificatePinning

/// Domains under which the public can register names: the Public Suffix List, as `scripts/public-suffixes` put it into
/// `CPublicSuffixes` (publicsuffix.org, MPL-2.0).
public enum PublicSuffixes {
    private static let rules: Set<Substring> = {
        Set(String(cString: tumbler_public_suffixes()).split(separator: "\n"))
    }()

    /// Whether a host is a public suffix: by a rule, by a wildcard (`*.ck`), and not by an exception (`!www.ck`). The
    /// parent of a wildcard counts as one: the hosts below it have many owners as well.
    ///
    /// - Parameter orUnknownTopLevel: Whether a name of one label that no rule knows is one, as the list's own default
    ///   rule says. For `localhost` that is of no use, so it is asked only where subdomains are included.
    public static func contains(_ host: HostName, orUnknownTopLevel: Bool = false) -> Bool {
        guard !host.isAddress else { return false }
        let name = host.description[...]
        if self.rules.contains(Substring("!\(name)")) { return false }
        if self.rules.contains(name) || self.rules.contains(Substring("*.\(name)")) { return true }
        guard let dot = name.firstIndex(of: ".") else { return orUnknownTopLevel }
        return self.rules.contains(Substring("*\(name[dot...])"))
    }
}
