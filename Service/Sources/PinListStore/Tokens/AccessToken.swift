// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Crypto
internal import PinListMetadata

/// A secret that opens a part of the service. The service keeps its hash alone.
package struct AccessToken: Hashable, Sendable {
    /// The rights of a token.
    package enum Scope: String, Hashable, Sendable, CaseIterable {
        /// Publishing lists of the names that it is bound to.
        case publish
        /// Handing in what a probe of the names that it is bound to found.
        case probe
        /// The dashboard, the metrics and readiness.
        case read
        /// The rights of `read`, and acknowledging and silencing alarms.
        case operate

        /// Whether it opens something of named lists alone.
        package var isBoundToNames: Bool { self == .publish || self == .probe }
    }

    /// Names it in the log and on the command line; no secret.
    package let id: String
    /// The rights of the token.
    package let scope: Scope
    /// The lists that it may publish; none for those that read.
    package let names: [String]
    /// The SHA-256 of its secret.
    package let hash: [UInt8]
    /// The time at which it was made.
    package let madeAt: Timestamp
    /// The purpose, in its maker's words; empty where nothing was said.
    package var label = ""
    /// The person or team that answers for it; empty where nothing was said.
    package var owner = ""
    /// The time from which it is invalid; `nil` for one that only revoking ends.
    package var endsAt: Timestamp?
    /// The time at which it was revoked.
    package var revokedAt: Timestamp?

    /// The number of random bytes in a secret.
    package static let secretBytes = 32

    /// The number of random bytes of an id.
    private static let idBytes = 8

    /// The number of characters of an id, which is hexadecimal.
    static let idLength = 2 * Self.idBytes

    /// The number of random bytes that a token is made of: its id's, and the secret's.
    package static let randomBytes = Self.idBytes + Self.secretBytes

    /// The maximum number of Unicode scalars of a label and of an owner (formats.md, section 7).
    package static let maximumTextScalars = 100

    /// The label of tokens that the service makes for those who come by a log-in link. Logging out revokes such a token.
    package static let loginLabel = "login link"

    /// The number of seconds for which an expired token is kept for the list of tokens: 30 days. The audit log names it
    /// for longer.
    static let keptAfterEnd: Int64 = 2_592_000

    /// The prefix of every secret, so that scanners of sources find one that leaked.
    package static let prefix = "tumbler_"

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - scope: The rights of the token.
    ///   - names: The lists that it may publish.
    ///   - label: The purpose.
    ///   - owner: The responsible person or team.
    ///   - end: The time at which it expires; `nil` for never.
    ///   - random: ``randomBytes`` of them.
    ///   - time: Now.
    /// - Returns: The token, and its secret, which is shown once; `nil` for too few random bytes, and for a label or an
    ///   owner that is none (``isText(_:)``).
    package static func make(
        _ scope: Scope, names: [String], label: String = "", owner: String = "", endsAt end: Timestamp? = nil,
        random: [UInt8], at time: Timestamp
    ) -> (token: AccessToken, secret: String)? {
        guard random.count == Self.randomBytes, Self.isText(label), Self.isText(owner) else { return nil }
        let id = Hexadecimal.text(of: random.prefix(8))
        let secret = "\(Self.prefix)\(id)_\(Hexadecimal.text(of: random.dropFirst(8)))"
        let token = AccessToken(
            id: id, scope: scope, names: names, hash: Array(SHA256.hash(data: Array(secret.utf8))), madeAt: time,
            label: label, owner: owner, endsAt: end)
        return (token, secret)
    }

    /// The id that a secret names, so that one token is looked up; `nil` for what is no secret of ours.
    package static func id(of secret: String) -> String? {
        let parts = secret.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard secret.utf8.count == Self.prefix.utf8.count + Self.idLength + 1 + 2 * Self.secretBytes, parts.count == 3,
            parts[1].count == Self.idLength, secret.hasPrefix(Self.prefix)
        else { return nil }
        return String(decoding: Array(parts[1]), as: UTF8.self)
    }

    /// Whether a secret is this token's, in a time that does not depend on where they differ.
    package func matches(_ secret: String) -> Bool {
        // The comparison of Crypto's digests: one written here was once wrong for a secret in 256.
        SHA256.hash(data: Array(secret.utf8)) == self.hash
    }

    /// Whether it opens anything at a time: it was not revoked, and has not ended.
    package func isValid(at time: Timestamp) -> Bool {
        self.revokedAt == nil && self.endsAt.map { time < $0 } != false
    }

    /// Whether it may publish a list, while it is valid.
    package func mayPublish(_ name: String) -> Bool { self.scope == .publish && self.names.contains(name) }

    /// Whether it may hand in what a probe found, while it is valid.
    package func mayProbe(_ name: String) -> Bool {
        [.probe, .publish].contains(self.scope) && self.names.contains(name)
    }

    /// Whether it may look, while it is valid.
    package var mayRead: Bool { [.read, .operate].contains(self.scope) }

    /// Whether it may acknowledge and silence alarms, while it is valid.
    package var mayOperate: Bool { self.scope == .operate }

    /// The name of the token in the audit log: the id, and the label and the owner where it has them.
    package var actor: String {
        self.id + (self.label.isEmpty ? "" : " \"\(self.label)\"") + (self.owner.isEmpty ? "" : " (\(self.owner))")
    }

    /// Whether a text may be a label or an owner: at most ``maximumTextScalars``, all of which show in a line as they are.
    package static func isText(_ text: String) -> Bool {
        text.unicodeScalars.dropFirst(Self.maximumTextScalars).isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                    false
                default: true
                }
            }
    }
}
