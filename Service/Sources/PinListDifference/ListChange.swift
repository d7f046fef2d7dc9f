// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One difference between two lists.
public struct ListChange: Hashable, Sendable, Encodable {
    /// The kind of a change: added, removed or changed.
    public enum Kind: String, Hashable, Sendable, Encodable {
        /// The element is new.
        case added
        /// The element was removed.
        case removed
        /// The element has another value.
        case changed
    }

    /// The kind of the change: added, removed or changed.
    public let kind: Kind

    /// The subject of the change: `list`, the domain of an entry, `denied`, `revoked` or `suspended`.
    public let subject: String

    /// The part of the subject: `pin`, `mode`, `entry` and so on.
    public let what: String

    /// The old value; `nil` where there was none.
    public let old: String?

    /// The new value; `nil` where there is none any more.
    public let new: String?

    /// Whether clients accept more than before.
    public let weakens: Bool

    /// Whether clients may refuse what they accepted before: a pin is gone, a key or a certificate is refused, an entry asks
    /// for more.
    public var mayRefuse: Bool {
        if Self.harmless.contains(self.what) { return false }
        // Subdomains have other pins than before, also where these accept more.
        if self.weakens, self.what != "includeSubdomains" { return false }
        return self.subject != "list" || self.what == "unlisted"
    }

    /// The parts of an entry that refuse nothing.
    private static let harmless: Set<String> = [
        "reportTo", "reportPerMillion", "expiresAt", "note of a pin", "the order of its pins",
        "the order of its entries",
    ]

    /// A line for people: a sign, what it is about, and how it was and is.
    public var line: String {
        let sign = [Kind.added: "+", .removed: "-", .changed: "~"][self.kind] ?? "~"
        let values =
            switch (self.old, self.new) {
            case (let old?, let new?): "\(old) → \(new)"
            default: self.new ?? self.old ?? ""
            }
        return "\(sign) \(self.subject): \(self.what) \(values)\(self.weakens ? " (accepts more)" : "")"
    }
}
