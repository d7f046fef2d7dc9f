// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One difference between two lists.
public struct ListChange: Hashable, Sendable, Encodable {
    /// What became of it.
    public enum Kind: String, Hashable, Sendable, Encodable {
        /// It is new.
        case added
        /// It is gone.
        case removed
        /// It is another.
        case changed
    }

    /// What became of it.
    public let kind: Kind

    /// What it is about: `list`, the domain of an entry, `denied`, `revoked` or `suspended`.
    public let subject: String

    /// What exactly: `pin`, `mode`, `entry` and so on.
    public let what: String

    /// How it was; `nil` where it was not.
    public let old: String?

    /// How it is; `nil` where it is not any more.
    public let new: String?

    /// Whether clients accept more than before.
    public let weakens: Bool

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
