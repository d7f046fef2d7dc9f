// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) import PinListClient
import Testing

@Suite("Where a request goes")
struct RequestTargetTests {
    @Test(
        "is read from its URL",
        arguments: [
            ("https://api.example.com", "api.example.com", 443),
            ("https://api.example.com/a:b@c", "api.example.com", 443),
            ("HTTPS://API.example.com:8443?x", "API.example.com", 8_443), ("https://[::1]:1/", "[::1]", 1),
            ("https://[::1]", "[::1]", 443), ("http://a", "a", 80), ("https://a#@b", "a", 443),
            ("https://a:/", "a", 443),
        ])
    func isReadFromItsURL(_ url: String, host: String, port: Int) throws {
        let target = try #require(RequestTarget(url))
        #expect(target.host == host)
        #expect(target.port == port)
        #expect(target.isTLS == (port != 80))
    }

    @Test(
        "the host of a damaged address is not guessed",
        arguments: [
            "", "https:/a", "https://", "https:///a", "https://:443/", "https://a:b/", "https://a:0/",
            "https://a:65536", "https://a:+443/", "https://a:4 4/", "https://a:99999999999999999999/", "https://u@a/",
            "https://u:p@a/", "https://a\\@b/", "https://a\\b/", "file:///a", "//a",
            "https", " https://a",
        ])
    func hostOfADamagedAddressIsNotGuessed(_ url: String) { #expect(RequestTarget(url) == nil) }
}
