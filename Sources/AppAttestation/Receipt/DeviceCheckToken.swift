// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
public import Crypto

/// The token by which Apple identifies a developer: a JSON Web Token signed with ES256 (RFC 7519, RFC 7518).
public struct DeviceCheckToken: Hashable, Sendable {
    /// The token, for the header `Authorization`. It is a secret for as long as Apple accepts it.
    public let text: String

    /// The maximum length of an id in characters. Apple's have ten.
    private static let maximumIDLength = 32

    /// Creates a token; `nil` for ids that are not 1 to 32 letters and digits, or a key that cannot sign.
    ///
    /// - Parameters:
    ///   - teamID: The developer's team.
    ///   - keyID: The id of the private key, from the developer's account.
    ///   - time: Now.
    ///   - privateKey: The private key, with the right to use DeviceCheck.
    public init?(teamID: String, keyID: String, at time: Timestamp, signedBy privateKey: P256.Signing.PrivateKey) {
        guard Self.isID(teamID), Self.isID(keyID) else { return nil }
        let header = Self.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
        let claims = Self.encode(Array(#"{"iat":\#(time.secondsSince1970),"iss":"\#(teamID)"}"#.utf8))
        let message = "\(header).\(claims)"
        guard let signature = try? privateKey.signature(for: Array(message.utf8)) else { return nil }
        self.text = "\(message).\(Self.encode(Array(signature.rawRepresentation)))"
    }

    private static func isID(_ text: String) -> Bool {
        (1...self.maximumIDLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }

    /// Base64 for URLs, without padding (RFC 4648, section 5).
    private static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.compactMap { character -> UInt8? in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: character
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
