// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The address that a request came from: looked at while the request is answered, and never stored or logged.
package struct SourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes, or 16 that are not an IPv4-mapped address (RFC 4291, section 2.5.5.2).
    package let bytes: [UInt8]

    /// An address in network order; `nil` for anything but 4 or 16 bytes.
    package init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16:
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// An address as it is written, with or without brackets; a zone id (`%eth0`) is left out. `nil` for a name.
    package init?(_ text: String) {
        let unzoned = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? ""
        let closed = text.hasSuffix("]") && !unzoned.hasSuffix("]") ? unzoned + "]" : unzoned
        guard let host = try? HostName(closed), let address = IPAddress(host) else { return nil }
        self.init(bytes: address.bytes)
    }

    /// The bytes by which networks are counted: the /24 of an IPv4 address, the /48 of an IPv6 address, and which of
    /// the two it is. A site is rarely given more, and a phone moves within.
    package var site: [UInt8] { self.bytes.count == 4 ? [4] + self.bytes.prefix(3) : [6] + self.bytes.prefix(6) }

    /// The bytes by which requests are limited: the whole IPv4 address, the /64 of an IPv6 address, within which one
    /// machine can choose any address it likes.
    var limited: [UInt8] { self.bytes.count == 4 ? self.bytes : Array(self.bytes.prefix(8)) }

    /// The address, written for certificates that name one.
    package var description: String {
        if self.bytes.count == 4 { return self.bytes.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { index in
            String(UInt16(self.bytes[index]) << 8 | UInt16(self.bytes[index + 1]), radix: 16)
        }
        let text = groups.joined(separator: ":")
        return (try? HostName(text))?.description ?? text
    }
}
