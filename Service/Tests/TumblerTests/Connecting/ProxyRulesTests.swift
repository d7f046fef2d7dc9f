// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import tumbler

@Suite("Which hosts are asked through a proxy")
struct ProxyRulesTests {
    private static let proxy = ProxyRules.Proxy(host: "127.0.0.1", port: 1)

    private func proxy(
        for host: String, option: String? = nil, isTLS: Bool = true, at place: String? = nil,
        _ environment: [String: String]
    ) throws -> ProxyRules.Proxy? {
        let rules = try ProxyRules(option: option, environment: environment)
        let host = try HostName(host)
        return rules.proxy(for: host, at: try place.map { try HostName($0) } ?? host, isTLS: isTLS)
    }

    // What curl 7.88.1 does with https_proxy=http://127.0.0.1:1, NO_PROXY and https://HOST/: whether it connects to the
    // proxy. The network of IPv6 is as curl's documentation says it.
    @Test(
        "NO_PROXY is read as curl reads it",
        arguments: [
            ("example.com", "api.example.com", false), (".example.com", "api.example.com", false),
            ("example.com", "example.com", false), (".example.com", "example.com", false),
            ("example.com", "notexample.com", true), ("ample.com", "example.com", true),
            ("*", "a.example", false), ("*.example.com", "api.example.com", true), ("*,x", "a.example", true),
            ("a.example, example.com", "example.com", false), ("a.example example.com", "example.com", false),
            ("EXAMPLE.com", "api.example.com", false), ("example.com.", "example.com", false),
            ("192.0.2.0/24", "192.0.2.77", false), ("192.0.2.0/25", "192.0.2.200", true),
            ("192.0.2.0/33", "192.0.2.1", true), ("192.0.2.0/0", "198.51.100.1", true),
            ("192.0.2.1", "192.0.2.1", false), ("192.0.2", "192.0.2.1", true),
            ("2001:db8::1", "2001:db8::1", false), ("[2001:db8::1]", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db8::1", false), ("", "a.example", true),
        ])
    func noProxyIsReadAsCurlReadsIt(exempt: String, host: String, isProxied: Bool) throws {
        let found = try self.proxy(for: host, ["HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": exempt])
        #expect(found == (isProxied ? Self.proxy : nil))
    }

    @Test(
        "the variables, in curl's order; HTTP_PROXY in upper case is a header of a request to a CGI script, and is not read"
    )
    func variablesInCurlsOrderHTTPProxyInUpperCaseIsNotRead() throws {
        let other = "http://192.0.2.9:9"
        #expect(
            try self.proxy(for: "a.example", ["https_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": other]) == Self.proxy)
        #expect(try self.proxy(for: "a.example", ["HTTPS_PROXY": "127.0.0.1:1", "ALL_PROXY": other]) == Self.proxy)
        #expect(try self.proxy(for: "a.example", ["ALL_PROXY": "http://127.0.0.1:1"]) == Self.proxy)
        #expect(try self.proxy(for: "a.example", ["HTTP_PROXY": other, "http_proxy": other]) == nil)
        #expect(try self.proxy(for: "a.example", isTLS: false, ["HTTP_PROXY": other]) == nil)
        #expect(try self.proxy(for: "a.example", isTLS: false, ["http_proxy": "http://127.0.0.1:1"]) == Self.proxy)
        #expect(try self.proxy(for: "a.example", ["HTTPS_PROXY": "http://127.0.0.1"])?.port == 1_080)
        let known = try self.proxy(for: "a.example", ["HTTPS_PROXY": "http://user:p%40ss@127.0.0.1:1/"])
        #expect(known?.credentials == "user:p@ss")
    }

    @Test("--proxy stands in place of the variables, NO_PROXY holds for it, and an empty one is none")
    func proxyStandsInPlaceOfTheVariables() throws {
        let environment = ["HTTPS_PROXY": "http://192.0.2.9:9", "NO_PROXY": "b.example"]
        #expect(try self.proxy(for: "a.example", option: "http://127.0.0.1:1", environment) == Self.proxy)
        #expect(try self.proxy(for: "b.example", option: "http://127.0.0.1:1", environment) == nil)
        #expect(try self.proxy(for: "a.example", option: "", environment) == nil)
    }

    @Test("this machine itself is asked through a proxy with --proxy alone, under any name")
    func thisMachineItselfIsAskedThroughAProxyWithProxyAlone() throws {
        let environment = ["HTTPS_PROXY": "http://127.0.0.1:1"]
        for host in ["localhost", "127.0.0.1", "::1"] { #expect(try self.proxy(for: host, environment) == nil) }
        #expect(try self.proxy(for: "a.example", at: "127.0.0.1", environment) == nil)
        #expect(try self.proxy(for: "localhost", option: "http://127.0.0.1:1", environment) == Self.proxy)
    }

    @Test("a proxy that cannot be used is refused as an option, and said of a variable; no password is repeated")
    func proxyThatCannotBeUsedIsRefusedAsAnOptionAndSaidOfAVariable() throws {
        for text in [
            "socks5h://user:secret@127.0.0.1:1080", "https://user:secret@127.0.0.1", "http://", "http://user:secret@:1",
            "http://user%zz:secret@127.0.0.1", "a..b:1", "127.0.0.1:0",
        ] {
            let refusal = #expect(throws: ProxyRules.ProxyError.self) {
                _ = try ProxyRules(option: text, environment: [:])
            }
            #expect(refusal?.reason.contains("secret") == false, "\(text)")
            let rules = try ProxyRules(option: nil, environment: ["HTTPS_PROXY": text])
            #expect(rules.unused.count == 1 && rules.unused[0].contains("HTTPS_PROXY"), "\(text)")
            #expect(!rules.unused[0].contains("secret"))
        }
    }
}
