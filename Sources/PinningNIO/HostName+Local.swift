// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

extension HostName {
    /// Whether this is a name or an address of this machine or of a private network, to which no redirect from outside
    /// should lead.
    ///
    /// Addresses that the special-purpose registries (RFC 6890) have as not globally reachable: loopback, private
    /// (RFC 1918), carrier-grade NAT (RFC 6598), link-local, unique local (RFC 4193), unspecified, benchmarking, reserved
    /// and multicast, and IPv6 addresses that carry such an IPv4 address (mapped, compatible, NAT64, 6to4). Names:
    /// `localhost` and what is below it (RFC 6761, section 6.3), and those that Linux distributions give to loopback.
    /// Other names are not resolved here.
    @_spi(Tools) public var isLocal: Bool {
        guard let address = IPAddress(self) else {
            return self.description == "localhost" || self.description.hasSuffix(".localhost")
                || ["localhost.localdomain", "ip6-localhost", "ip6-loopback"].contains(self.description)
        }
        return address.bytes.count == 4 ? Self.isLocal(v4: address.bytes[...]) : Self.isLocal(v6: address.bytes)
    }

    private static func isLocal(v4 bytes: ArraySlice<UInt8>) -> Bool {
        let (first, second, third) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1], bytes[bytes.startIndex + 2])
        return switch (first, second) {
        case (0, _), (10, _), (127, _), (224..., _): true
        case (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19): true
        case (192, 0): third == 0
        default: false
        }
    }

    private static func isLocal(v6 bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        // fc00::/7, fe80::/10 and the old site-local fec0::/10, ff00::/8.
        case (0xfc...0xfd, _), (0xfe, 0x80...), (0xff, _): return true
        // 2002::/16, 6to4.
        case (0x20, 0x02): return self.isLocal(v4: bytes[2..<6])
        default: break
        }
        // ::/96: unspecified, loopback and IPv4-compatible. Mapped addresses are IPv4 addresses by now.
        if bytes[..<12].allSatisfy({ $0 == 0 }) { return true }
        // 64:ff9b::/96 carries an IPv4 address, 64:ff9b:1::/48 is for local use (RFC 8215).
        guard bytes[..<4].elementsEqual([0, 0x64, 0xff, 0x9b]) else { return false }
        if bytes[4] == 0, bytes[5] == 1 { return true }
        return bytes[4..<12].allSatisfy { $0 == 0 } && self.isLocal(v4: bytes[12...])
    }
}
#endif
