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

@Suite("Hosts that are numbers")
struct IPv4HostTests {
    @Test(
        "numbers that a resolver takes for an address are no names: who checks the certificate would see a name",
        arguments: [
            "127.1", "127.0.1", "0x7f000001", "0x7f.1", "0X7F.1", "017700000001", "2130706433", "1.2.3.4.5", "1.2.3.04",
            "01.2.3.4", "1.2.3.0x4", "256.1.1.1", "1.1.1.256", "1.1.1.999", "foo.0x1", "foo.0X1f", "foo.123", "0", "1",
            "00", "0.0.0", "1.2.3", "0x", "0x.", "foo.0x", "foo.0xzz", "4294967296", "99999999999999999999",
            "1.2.3.4.5.6", "08.8.8.8", "1.2.3.08", "0177.0.0.1", "127.0.0.1.0", "a.1.", "127.1.", "0x7f000001.",
            "1.2.3.0000000000004", "1.2.3.4294967300", "1..3.4", ".1.2.3.4", "example.com.0", "000.000.000.000",
        ])
    func numbersThatAResolverTakesForAnAddressAreNoNames(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test(
        "an address is four decimal numbers, and no name",
        arguments: ["0.0.0.0", "1.2.3.4", "10.0.0.255", "127.0.0.1", "192.168.100.200", "255.255.255.255"])
    func addressIsFourDecimalNumbersAndNoName(text: String) throws {
        let host = try HostName(text)
        #expect(host.isAddress)
        #expect(host.description == text)
        #expect(try HostName(text + ".") == host)
        #expect(try #require(IPAddress(host)).bytes == text.split(separator: ".").compactMap { UInt8($0) })
        #expect(IPAddress(host)?.description == text)
    }

    @Test(
        "names that only begin with numbers are names", arguments: ["1.2.3.4.example.com", "127.0.0.1.nip", "1.2.3.x4"])
    func namesThatOnlyBeginWithNumbersAreNames(text: String) throws {
        #expect(try !HostName(text).isAddress)
        #expect(IPAddress(try HostName(text)) == nil)
    }

    /// `inet_aton` is what `getaddrinfo` takes for an address before it asks any server: one to four numbers, decimal,
    /// octal or hexadecimal.
    @Test("what inet_aton takes for an address is refused, or that very address", arguments: [51, 52] as [UInt64])
    func whateverInetAtonTakesForAnAddressIsRefusedOrThatVeryAddress(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "0", "1", "7", "08", "010", "0x7f", "0x", "127", "255", "256", "65535", "2130706433", "a", "f", "x", "-",
        ]
        var taken = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...5, using: &random)
            let text = (0..<count).map { _ in parts[Int.random(in: parts.indices, using: &random)] }.joined(
                separator: ".")
            var address = in_addr()
            guard inet_aton(text, &address) != 0 else { continue }
            taken += 1
            guard let host = try? HostName(text) else { continue }
            let bytes = withUnsafeBytes(of: address.s_addr) { Array($0) }
            #expect(IPAddress(host)?.bytes == bytes, "\(text)")
        }
        #expect(taken > 1_000)
    }

    @Test("exactly the texts that inet_pton takes are IPv4 addresses", arguments: [53, 54] as [UInt64])
    func exactlyTheTextsThatInetPtonTakesAreIPv4Addresses(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = ["0", "00", "1", "9", "01", "10", "99", "100", "249", "255", "256", "300", "1000", "", "1x"]
        var taken = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...6, using: &random) == 6 ? 5 : 4
            let text = (0..<count).map { _ in parts[Int.random(in: parts.indices, using: &random)] }.joined(
                separator: ".")
            var address = in_addr()
            let isAddress = inet_pton(AF_INET, text, &address) == 1
            let host = try? HostName(text)
            // The normaliser removes one trailing dot first; inet_pton does not.
            guard !text.hasSuffix(".") else { continue }
            #expect((host?.isAddress ?? false) == isAddress, "\(text)")
            taken += isAddress ? 1 : 0
        }
        #expect(taken > 1_000)
    }
}
