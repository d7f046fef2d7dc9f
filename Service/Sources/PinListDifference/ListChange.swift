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

    /// Whether clients may refuse what they accepted before: a pin is gone, a key or a certificate is refused, an entry
    /// asks for more, hosts come under another rule, or a policy is evaluated with another log list. A change may do
    /// both.
    public let mayRefuse: Bool

    /// A line for people: a sign, what it is about, and how it was and is.
    public var line: String {
        let sign = [Kind.added: "+", .removed: "-", .changed: "~"][self.kind] ?? "~"
        let values =
            switch (self.old, self.new) {
            case (let old?, let new?): "\(old) → \(new)"
            default: self.new ?? self.old ?? ""
            }
        return "\(sign) \(self.subject): \(self.what) \(values)\(self.effect)"
    }

    /// The effect on clients, as the line ends with it.
    ///
    /// An entry that comes refuses by its nature, and so does a pin that goes: that is not said. It is said where the
    /// line would say half of it otherwise, and where hosts lose their entry, which readers take for a relaxation.
    private var effect: String {
        if self.weakens { return self.mayRefuse ? " (accepts more, and refuses more)" : " (accepts more)" }
        return self.mayRefuse && self.losesHosts ? " (refuses more)" : ""
    }

    /// Whether an entry does not apply any more to hosts to which it applied.
    private var losesHosts: Bool {
        switch self.what {
        case "entry": self.kind == .removed
        case "includeSubdomains": self.new == "false"
        default: false
        }
    }
}
