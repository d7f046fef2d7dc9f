// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where a request goes: what its URL says of scheme, host and port.
///
/// Read by hand, and strictly. Should a transport ever read another host in the same text, pinning refuses what it
/// connects to: the certificate is not for this host.
@_spi(Adapters)
public struct RequestTarget: Hashable, Sendable {
    /// Whether the scheme is `https`.
    public let isTLS: Bool
    /// As it stands in the URL.
    public let host: String
    /// The port that the URL names, or the scheme's.
    public let port: Int

    /// Reads the beginning of a URL; `nil` when it is no `http` or `https` URL with a host.
    public init?(_ url: String) {
        let text = url.utf8
        let start: String.Index
        if Self.begins(text, with: "https://") {
            self.isTLS = true
            start = text.index(text.startIndex, offsetBy: 8)
        } else if Self.begins(text, with: "http://") {
            self.isTLS = false
            start = text.index(text.startIndex, offsetBy: 7)
        } else {
            return nil
        }
        let rest = text[start...]
        let end = rest.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)]
        // Credentials in a URL end up in logs, and hide the host from people; a backslash ends the host for some
        // readers and not for others.
        guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "\\")) else { return nil }
        var port: Int?
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            let digits = authority[authority.index(after: colon)...]
            if !digits.isEmpty {
                guard let number = Int(String(Substring(digits))), (1...65_535).contains(number) else { return nil }
                port = number
            }
            authority = authority[..<colon]
        }
        guard !authority.isEmpty else { return nil }
        self.host = String(Substring(authority))
        self.port = port ?? (self.isTLS ? 443 : 80)
    }

    private static func begins(_ text: String.UTF8View, with scheme: StaticString) -> Bool {
        scheme.withUTF8Buffer { scheme in
            text.count > scheme.count && zip(text, scheme).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }
}
