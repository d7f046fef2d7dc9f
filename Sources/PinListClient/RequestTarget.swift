// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The target of a request: scheme, host and port of its URL.
///
/// Parsed strictly. Should a transport read another host in the same text, pinning refuses the connection, because the
/// certificate is not for this host.
@_spi(Adapters)
public struct RequestTarget: Hashable, Sendable {
    /// Whether the scheme is `https`.
    public let isTLS: Bool
    /// The host as in the URL.
    public let host: String
    /// The port that the URL names, or the scheme's.
    public let port: Int

    /// Reads the beginning of a URL; `nil` when it is no `http` or `https` URL with a host.
    public init?(_ url: String) {
        // Every request needs it, so the text is read in place, each byte once.
        var url = url
        guard let (isTLS, host, port) = url.withUTF8({ Self.read($0) }) else { return nil }
        self.isTLS = isTLS
        self.host = host
        self.port = port
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> (isTLS: Bool, host: String, port: Int)? {
        let isTLS = self.begins(text, with: "https://")
        guard isTLS || self.begins(text, with: "http://") else { return nil }
        let start = isTLS ? 8 : 7
        var end = start
        var colon: Int?
        authority: while end < text.count {
            switch text[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break authority
            // Credentials in a URL end up in logs, and hide the host from people; a backslash ends the host for some
            // readers and not for others.
            case UInt8(ascii: "@"), UInt8(ascii: "\\"): return nil
            case UInt8(ascii: ":"): colon = end
            // Earlier colons belong to an IPv6 address.
            case UInt8(ascii: "]"): colon = nil
            default: break
            }
            end += 1
        }
        var port = isTLS ? 443 : 80
        if let colon, colon + 1 < end {
            port = 0
            for digit in text[(colon + 1)..<end] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                port = port * 10 + Int(digit - UInt8(ascii: "0"))
                guard port <= 65_535 else { return nil }
            }
            guard port > 0 else { return nil }
        }
        let host = text[start..<(colon ?? end)]
        guard !host.isEmpty else { return nil }
        return (isTLS, String(decoding: host, as: UTF8.self), port)
    }

    private static func begins(_ text: UnsafeBufferPointer<UInt8>, with scheme: StaticString) -> Bool {
        guard text.count > scheme.utf8CodeUnitCount else { return false }
        return scheme.withUTF8Buffer { scheme in scheme.indices.allSatisfy { text[$0] | 0x20 == scheme[$0] | 0x20 } }
    }
}
