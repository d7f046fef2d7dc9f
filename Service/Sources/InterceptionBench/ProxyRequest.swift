// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// A client's request to a proxy (RFC 9112, section 3.2; RFC 9110, section 9.3.6).
struct ProxyRequest {
    /// The maximum length of a head that is read; curl's is under 200 bytes.
    static let maximumBytes = 8_192

    /// The host.
    let host: HostName
    /// The port.
    let port: Int
    /// Whether a tunnel is asked for, and not a page over HTTP without TLS.
    let isTunnel: Bool
    /// The length of its head in bytes.
    let length: Int

    /// Reads a head that is whole; `nil` for one that is not, and for one that cannot be read.
    init?<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) where Bytes.Index == Int {
        guard let end = Self.end(of: bytes) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
        self.isTunnel = words[0] == "CONNECT"
        var authority = words[1]
        if !self.isTunnel {
            guard authority.lowercased().hasPrefix("http://") else { return nil }
            authority = authority.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        }
        var port = self.isTunnel ? nil : 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            port = UInt16(authority[authority.index(after: colon)...]).map { Int($0) }
            authority = authority[..<colon]
        }
        guard let port, port > 0, let host = try? HostName(String(authority)) else { return nil }
        self.host = host
        self.port = port
        self.length = end
    }

    /// Whether a head is whole and cannot be read, or does not begin as text.
    static func isHopeless<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> Bool where Bytes.Index == Int {
        self.end(of: bytes) != nil || bytes.first.map { !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
    }

    private static func end<Bytes: RandomAccessCollection<UInt8>>(of bytes: Bytes) -> Int? where Bytes.Index == Int {
        // Four bytes in a row, of which one that is no part of them begins the count anew.
        var seen = 0
        for (offset, byte) in bytes.enumerated() {
            let isNext = byte == (seen % 2 == 0 ? UInt8(ascii: "\r") : UInt8(ascii: "\n"))
            seen = isNext ? seen + 1 : byte == UInt8(ascii: "\r") ? 1 : 0
            if seen == 4 { return offset + 1 }
        }
        return nil
    }
}
