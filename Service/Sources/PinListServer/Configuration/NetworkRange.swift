// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// Addresses that share their first bits: `10.0.0.0/8`, `2001:db8::/32`, or one address alone (RFC 4632, section 3.1).
package struct NetworkRange: Hashable, Sendable, CustomStringConvertible {
    private let address: IPAddress
    private let bits: Int

    /// Reads a range.
    ///
    /// - Returns: `nil` for what is none, and for bits that no address of its kind has.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(text: String(first)) else { return nil }
        self.address = address
        let all = address.bytes.count * 8
        guard parts.count == 2 else {
            self.bits = all
            return
        }
        guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let bits = Int(parts[1]), (0...all).contains(bits)
        else { return nil }
        self.bits = bits
    }

    /// Whether an address is in it.
    package func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == self.address.bytes.count else { return false }
        let whole = self.bits / 8
        guard other.bytes.prefix(whole) == self.address.bytes.prefix(whole) else { return false }
        let rest = self.bits % 8
        guard rest > 0 else { return true }
        let mask = UInt8.max << (8 - rest)
        return other.bytes[whole] & mask == self.address.bytes[whole] & mask
    }

    /// The range in its written form.
    package var description: String { "\(self.address)/\(self.bits)" }
}

extension IPAddress {
    /// Reads an address as a socket or a field of a request has it, without brackets, port or zone.
    init?(text: String) {
        guard let host = try? HostName(text) else { return nil }
        self.init(host)
    }
}

extension Sequence<NetworkRange> {
    /// Whether one of them has an address.
    func contains(_ address: IPAddress) -> Bool { self.contains { $0.contains(address) } }
}
