// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// Where reports may go: `https`, or `http` to this machine itself.
public enum ReportAddress {
    /// The most bytes of an address.
    public static let maximumLength = 2_048

    /// Whether a text is an absolute `https` URL with a host, without user information or fragment; or an `http` one
    /// to a loopback address.
    public static func isAllowed(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= self.maximumLength, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let forbidden = Array("\"<>\\^`{|}#".utf8)
        guard !bytes.contains(where: { forbidden.contains($0) }) else { return false }
        for (scheme, isLoopbackOnly) in [("https://", false), ("http://", true)] {
            guard text.lowercased().hasPrefix(scheme) else { continue }
            let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            guard let host = self.host(of: authority) else { return false }
            return !isLoopbackOnly || self.isLoopback(host)
        }
        return false
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
