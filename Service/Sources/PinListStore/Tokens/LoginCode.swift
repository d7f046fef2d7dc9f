// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Crypto
internal import PinListMetadata

/// A code that logs a browser in once: the secret of a log-in link (formats.md, section 7). Its hash alone is kept.
package struct LoginCode: Hashable, Sendable {
    /// The SHA-256 of the code's text.
    package let hash: [UInt8]
    /// The maker of the link, who will own the token of the login.
    package let owner: String
    /// The time at which it expires.
    package let endsAt: Timestamp

    /// The number of random bytes of a code.
    package static let randomBytes = 32
    /// The number of seconds for which a code can be used: ten minutes, as long as it takes to open a link, and to mend
    /// a tunnel.
    package static let seconds: Int64 = 600
    /// The number of codes that can be open at once. One more ends the oldest.
    package static let maximumOpen = 16

    /// Makes a code.
    ///
    /// - Parameters:
    ///   - owner: The maker of the link.
    ///   - random: ``randomBytes`` of them.
    ///   - time: Now.
    /// - Returns: The code, and its text, 64 lower-case hex digits; `nil` for too few random bytes, and for an owner that a
    ///   token cannot have.
    package static func make(
        owner: String, random: [UInt8], at time: Timestamp
    ) -> (code: LoginCode, text: String)? {
        guard random.count == Self.randomBytes, AccessToken.isText(owner) else { return nil }
        let text = Hexadecimal.text(of: random)
        let end = Timestamp(secondsSince1970: time.secondsSince1970 + Self.seconds)
        return (LoginCode(hash: Array(SHA256.hash(data: Array(text.utf8))), owner: owner, endsAt: end), text)
    }

    /// Whether a text is this code's, in a time that does not depend on where they differ.
    package func matches(_ text: String) -> Bool { SHA256.hash(data: Array(text.utf8)) == self.hash }

    /// Whether a text has the form of a code.
    package static func isCode(_ text: String) -> Bool {
        text.utf8.count == 2 * Self.randomBytes
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
