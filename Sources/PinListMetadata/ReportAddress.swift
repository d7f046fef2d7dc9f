// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The rules for addresses of reports: `https`, or `http` to this machine itself.
public enum ReportAddress {
    /// The maximum length of an address in bytes (formats.md, section 3).
    public static let maximumLength = 2_048

    /// Whether a text is an absolute `https` URL with a host, without user information or fragment; or an `http` one
    /// to a loopback address.
    public static func isAllowed(_ text: String) -> Bool { self.allowedHost(of: text) != nil }

    /// Whether an answer from one address may redirect to another one: to this machine from this machine alone, so that no
    /// server reaches what listens here.
    @_spi(Adapters) public static func isAllowed(_ text: String, redirectedFrom address: String) -> Bool {
        guard let target = self.allowedHost(of: text) else { return false }
        return !self.isLoopback(target) || self.allowedHost(of: address).map { self.isLoopback($0) } == true
    }

    /// The host of an address that is allowed; `nil` for any other text.
    private static func allowedHost(of text: String) -> HostName? {
        guard text.utf8.count <= self.maximumLength, text.utf8.allSatisfy({ self.isAllowed($0) }) else { return nil }
        let isSecure = self.begins(text, with: "https://")
        guard isSecure || self.begins(text, with: "http://") else { return nil }
        let authority = text.utf8.dropFirst(isSecure ? 8 : 7).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        guard let host = self.host(of: Substring(authority)), isSecure || self.isLoopback(host) else { return nil }
        return host
    }

    /// Whether a character may stand in an address: a visible one that no parser gives another meaning.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF: false
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
            false
        default: true
        }
    }

    /// Whether a text begins with a scheme, in any case.
    private static func begins(_ text: String, with scheme: StaticString) -> Bool {
        let length = scheme.utf8CodeUnitCount
        guard text.utf8.count >= length else { return false }
        return scheme.withUTF8Buffer { scheme in
            zip(text.utf8, scheme).allSatisfy { byte, expected in
                byte == expected || ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == expected)
            }
        }
    }

    /// Whether a host is this machine itself: `localhost`, 127.0.0.0/8 or ::1.
    public static func isLoopback(_ host: HostName) -> Bool {
        let text = host.description
        return text == "localhost" || (host.isAddress && (text == "::1" || text.hasPrefix("127.")))
    }

    /// Whether a text is a colon and a number from 1 to 65535; `UInt16` alone would read `+80`.
    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: ":") && digits.count <= 5
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (UInt16(text.dropFirst()) ?? 0) > 0
    }

    /// The host of an authority: `host`, `host:port`, `[address]:port`.
    private static func host(of authority: Substring) -> HostName? {
        guard !authority.contains("@") else { return nil }
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            rest = authority[authority.index(after: end)...]
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority[host.endIndex...]
        }
        guard rest.isEmpty || self.isPort(rest) else { return nil }
        return try? HostName(String(host))
    }
}
