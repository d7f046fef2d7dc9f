// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Hosts that are IPv6 addresses")
struct IPv6HostTests {
    /// The right column is Python's: `str(ipaddress.IPv6Address(left))`, or its `ipv4_mapped` where there is one.
    @Test(
        "the text of an address is that of RFC 5952, and one that maps an IPv4 address is that address",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:db8::1", "2001:db8::1"),
            ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("0:0:0:1:0:0:0:0", "0:0:0:1::"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("fe80::abcd:EF01", "fe80::abcd:ef01"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
            ("ff02::1", "ff02::1"), ("a:b:c:d:e:f:0:1", "a:b:c:d:e:f:0:1"), ("0:0:0:0:0:0:0:0", "::"),
            ("00ab:000c::", "ab:c::"), ("1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"), ("::1.2.3.4", "::102:304"),
            ("::fffe:1.2.3.4", "::fffe:102:304"), ("::ffff:0:1.2.3.4", "::ffff:0:102:304"),
            ("::1:ffff:1.2.3.4", "::1:ffff:102:304"), ("::ffff:1.2.3.4", "1.2.3.4"), ("::FFFF:7f00:1", "127.0.0.1"),
            ("0:0:0:0:0:ffff:c0a8:0101", "192.168.1.1"), ("::ffff:0:0", "0.0.0.0"),
        ])
    func textOfAnAddressIsThatOfRFC5952AndOneThatMapsAnIPv4AddressIsThatAddress(text: String, canonical: String) throws
    {
        for form in [text, "[\(text)]", text.uppercased(), "\(text).", "[\(text)]."] {
            let host = try HostName(form)
            #expect(host.description == canonical)
            #expect(host.isAddress)
            #expect(host == (try HostName(canonical)))
            #expect(try #require(IPAddress(host)).description == canonical)
        }
    }

    @Test("an IPv4-mapped address and the IPv4 address are one host: no way around an entry for either")
    func iPv4MappedAddressAndTheIPv4AddressAreOneHostNoWayAroundAnEntryForEither() throws {
        let host = try HostName("192.0.2.1")
        #expect(try HostName("::ffff:192.0.2.1") == host)
        #expect(try HostName("[0:0:0:0:0:ffff:c000:201]") == host)
        #expect(try #require(IPAddress(HostName("::ffff:192.0.2.1"))).bytes == [192, 0, 2, 1])
        // The deprecated "compatible" form and NAT64's prefix are other addresses.
        #expect(try HostName("::192.0.2.1") != host)
        #expect(try HostName("64:ff9b::192.0.2.1") != host)
        let policy = try PinningPolicy(domains: [PinnedDomain(host, pins: [])])
        #expect(policy.entry(for: try HostName("[::FFFF:192.0.2.1]")) != nil)
        #expect(policy.entry(for: try HostName("::192.0.2.1")) == nil)
    }

    /// Python's `ipaddress` refuses all of them too.
    @Test(
        "texts that are no address",
        arguments: [
            ":", ":::", "1:::2", "::1::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8",
            "12345::", "g::1", "::1.2.3", "::1.2.3.256", "::1.2.3.04", "::1.2.3.4:5", "1.2.3.4::", ":1::2", "1::2:",
            "1:2:3:4:5:6:7:1.2.3.4", "0x1::", "::-1", " ::1", "::1 ", "::1/128", "1:2:3:4:5:6:7:", "::00001", "::%",
            "::1\0", "::ffff:127.1", "::ffff:0x7f.1", "::１", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "::1..",
            "0:0:0:0:0:0:0:0:",
        ])
    func textsThatAreNoAddress(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
        #expect(throws: InputError(.host, "")) { try HostName("[\(text)]") }
    }

    @Test(
        "a zone id names an interface of one machine and is refused",
        arguments: ["fe80::1%eth0", "[fe80::1%25eth0]", "fe80::1%1", "fe80::1%", "[fe80::1]%eth0", "fe80::1%25"])
    func zoneIdNamesAnInterfaceOfOneMachineAndIsRefused(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test(
        "brackets belong around an IPv6 address, both of them and once; a port is not cut off",
        arguments: [
            "[::1", "::1]", "[[::1]]", "[::1]]", "[[::1]", "][", "[::1]:443", "[::1]443", "[1.2.3.4]", "[example.com]",
            "[v1.x]", "::1:443:", "[ ::1]", "[::1 ]", "[::1]..", "x[::1]",
        ])
    func bracketsBelongAroundAnIPv6AddressBothOfThemAndOnceAPortIsNotCutOff(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test("exactly the texts that inet_pton takes are addresses, with its bytes", arguments: [61, 62, 63] as [UInt64])
    func exactlyTheTextsThatInetPtonTakesAreAddressesWithItsBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = ["", "", "0", "1", "00", "a", "ffff", "fFfF", "abcd", "0001", "12345", "1.2.3.4", "1.2.3.04", "g"]
        let weights = [4, 12, 20, 20, 2, 6, 6, 2, 6, 6, 1, 3, 1, 1]
        let choices = zip(parts, weights).flatMap { Array(repeating: $0, count: $1) }
        var taken = 0
        for _ in 0..<30_000 {
            let count = Int.random(in: 3...9, using: &random)
            let groups = (0..<count).map { _ in choices[Int.random(in: choices.indices, using: &random)] }
            let text = groups.joined(separator: ":")
            var address = in6_addr()
            let isAddress = inet_pton(AF_INET6, text, &address) == 1
            let host = try? HostName(text)
            #expect((host != nil) == isAddress, "\(text)")
            guard let host, isAddress else { continue }
            taken += 1
            let bytes = withUnsafeBytes(of: address) { Array($0) }
            let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
            #expect(try #require(IPAddress(host)).bytes == (isMapped ? Array(bytes.suffix(4)) : bytes), "\(text)")
        }
        #expect(taken > 1_000)
    }

    @Test("any 16 bytes, written out in full, come back in the text that inet_ntop gives", arguments: [64] as [UInt64])
    func any16BytesWrittenOutInFullComeBackInTheTextThatInetNtopGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            // Half of all groups are zero, so that runs of every length and in every place are met.
            let groups = (0..<8).map { _ in
                Bool.random(using: &random) ? 0 : UInt16.random(in: 0...UInt16.max, using: &random)
            }
            // inet_ntop writes what begins with 80 or 96 zero bits in IPv4's way, RFC 5952 does not ask for it.
            guard groups.prefix(5).contains(where: { $0 != 0 }) else { continue }
            let bytes = groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let system = bytes.withUnsafeBytes {
                inet_ntop(AF_INET6, $0.baseAddress, &text, socklen_t(INET6_ADDRSTRLEN))
            }
            let expected = String(cString: try #require(system))
            #expect(try HostName(groups.map { String($0, radix: 16) }.joined(separator: ":")).description == expected)
        }
    }
}
