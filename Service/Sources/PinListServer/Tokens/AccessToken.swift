// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Crypto
internal import PinListMetadata

/// A secret that opens a part of the service. The service keeps its hash alone.
public struct AccessToken: Hashable, Sendable {
    /// What it opens.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
        /// Publishing lists of the names that it is bound to.
        case publish
        /// Handing in what a probe of the names that it is bound to found.
        case probe
        /// The dashboard, the metrics and readiness.
        case read
    }

    /// Names it in the log and on the command line; no secret.
    public let id: String
    /// What it opens.
    public let scope: Scope
    /// The lists that it may publish; none for those that read.
    public let names: [String]
    /// The SHA-256 of its secret.
    public let hash: [UInt8]
    /// When it was made.
    public let madeAt: Timestamp
    /// When it was revoked.
    public var revokedAt: Timestamp?

    /// The number of random bytes in a secret.
    public static let secretBytes = 32

    /// The number of random bytes that a token is made of: its id's 8, and the secret's.
    public static let randomBytes = 8 + Self.secretBytes

    /// What stands before every secret, so that scanners of sources find one that leaked.
    static let prefix = "tumbler_"

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - scope: What it opens.
    ///   - names: The lists that it may publish.
    ///   - random: ``randomBytes`` of them.
    ///   - time: Now.
    /// - Returns: The token, and its secret, which is shown once; `nil` for too few random bytes.
    public static func make(
        _ scope: Scope, names: [String], random: [UInt8], at time: Timestamp
    ) -> (token: AccessToken, secret: String)? {
        guard random.count == Self.randomBytes else { return nil }
        let id = Hexadecimal.text(of: random.prefix(8))
        let secret = "\(Self.prefix)\(id)_\(Hexadecimal.text(of: random.dropFirst(8)))"
        let token = AccessToken(
            id: id, scope: scope, names: names, hash: Array(SHA256.hash(data: Array(secret.utf8))), madeAt: time)
        return (token, secret)
    }

    /// The id that a secret names, so that one token is looked up; `nil` for what is no secret of ours.
    public static func id(of secret: String) -> String? {
        let parts = secret.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard secret.utf8.count == Self.prefix.utf8.count + 16 + 1 + 2 * Self.secretBytes, parts.count == 3,
            parts[1].count == 16, secret.hasPrefix(Self.prefix)
        else { return nil }
        return String(decoding: Array(parts[1]), as: UTF8.self)
    }

    /// Whether a secret is this token's, in a time that does not depend on where they differ.
    public func matches(_ secret: String) -> Bool {
        // The comparison of Crypto's digests: one written here was once wrong for a secret in 256.
        SHA256.hash(data: Array(secret.utf8)) == self.hash
    }

    /// Whether it may publish a list.
    public func mayPublish(_ name: String) -> Bool {
        self.scope == .publish && self.revokedAt == nil && self.names.contains(name)
    }

    /// Whether it may hand in what a probe found.
    public func mayProbe(_ name: String) -> Bool {
        [.probe, .publish].contains(self.scope) && self.revokedAt == nil && self.names.contains(name)
    }

    /// Whether it may look.
    public var mayRead: Bool { self.scope == .read && self.revokedAt == nil }
}
