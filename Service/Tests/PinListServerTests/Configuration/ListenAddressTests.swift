// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer

@Suite("Addresses in the configuration")
struct ListenAddressTests {
    @Test(
        "an address to listen on",
        arguments: [
            ("127.0.0.1:8480", true), ("localhost:0", true), ("[::1]:80", true), ("127.8.9.10:1", true),
            ("0.0.0.0:80", false), ("[::]:80", false), ("pins.example.com:443", false),
            ("127.0.0.1.example.com:1", false),
        ])
    func addressToListenOn(text: String, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.description == text)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(
        "a text that is no address is refused",
        arguments: [
            "", "8480", "localhost", ":80", "::1:80", "[::1]", "[localhost]:1", "a b:1", "a:65536", "a:-1", "a:x",
        ])
    func textThatIsNoAddressIsRefused(text: String) { #expect(ListenAddress(text) == nil) }

    @Test("a network has the addresses that share its first bits, of its own kind")
    func networkHasTheAddressesThatShareItsFirstBitsOfItsOwnKind() throws {
        func contains(_ range: String, _ address: String) throws -> Bool {
            try #require(NetworkRange(range)).contains(try #require(IPAddress(text: address)))
        }
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("192.0.2.128/25", "192.0.2.128", "192.0.2.127"),
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"), ("198.51.100.0/31", "198.51.100.1", "198.51.100.2"),
        ] {
            #expect(try contains(range, inside))
            #expect(!(try contains(range, outside)))
        }
        for text in [
            "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0/8", "a/8", "::/129", "10.0.0.0/8/8",
        ] {
            #expect(NetworkRange(text) == nil, "\(text)")
        }
    }
}
