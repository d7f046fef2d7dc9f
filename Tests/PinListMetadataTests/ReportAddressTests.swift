// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
@_spi(Adapters) import PinListMetadata
import Testing

@Suite("Where reports may go")
struct ReportAddressTests {
    @Test(
        "https, and http to this machine",
        arguments: [
            "https://reports.example.com", "https://reports.example.com/v1/reports", "HTTPS://EXAMPLE.com/",
            "https://example.com:8443/x?y=z&a=%20", "https://10.0.0.1/", "https://[2001:db8::1]:443/",
            "http://localhost/", "http://LOCALHOST:8480/v1/reports", "http://127.0.0.1:1", "http://127.255.0.1/",
            "http://[::1]:8480/", "http://[::ffff:127.0.0.1]/", "https://example.com?x",
        ])
    func httpsAndHttpToThisMachine(address: String) throws {
        #expect(ReportAddress.isAllowed(address))
        let domain = #"{"domain":"a.example","mode":"off","reportTo":["\#(address)"]}"#
        #expect(try Payload.refusal(list: Payload.list(domain: domain)) == nil)
    }

    @Test(
        "reports go to no other address",
        arguments: [
            "", "https://", "https:///x", "http://example.com/", "http://128.0.0.1/", "http://localhost.example.com/",
            "http://127.0.0.1.example.com/", "ftp://example.com/", "//example.com/", "example.com", "https:example.com",
            "https://user@example.com/", "https://user:secret@example.com/", "http://127.0.0.1@example.com/",
            "http://localhost:80@example.com/", "https://example.com:0/", "https://example.com:65536/",
            "https://example.com:+80/", "https://example.com:-1/", "https://example.com:8 0/", "https://example.com:/",
            "https://example.com:00000080/", "https://exa mple.com/", "https://example.com/#x",
            "https://b\u{fc}cher.example/",
            "https://example.com\\@evil.example/", "https://[::1/", "https://[::1]x/", "https://127.1/",
            "http://127.1/",
            "http://0x7f.1/", "http://2130706433/", "http://[::2]/", " https://example.com/", "https://example.com/\n",
            "javascript:alert(1)", "file:///etc/passwd", "https://%65xample.com/",
        ])
    func reportsGoToNoOtherAddress(address: String) { #expect(!ReportAddress.isAllowed(address)) }

    @Test("2,048 bytes, and one more")
    func of2048BytesAndOneMore() {
        let prefix = "https://example.com/"
        #expect(ReportAddress.isAllowed(prefix + String(repeating: "x", count: 2_048 - prefix.count)))
        #expect(!ReportAddress.isAllowed(prefix + String(repeating: "x", count: 2_049 - prefix.count)))
    }

    @Test("an address that may not be is malformed in a list and in an entry")
    func addressThatMayNotBeIsMalformedInAListAndInAnEntry() throws {
        for domain in [
            #"{"domain":"a.example","mode":"off","reportTo":["http://example.com"]}"#,
            #"{"domain":"a.example","mode":"off","reportTo":"https://example.com"}"#,
            #"{"domain":"a.example","mode":"off","reportTo":[null]}"#,
        ] {
            #expect(try Payload.refusal(list: Payload.list(domain: domain))?.code == .malformed)
        }
        let list = Payload.list.replacingReports(with: #"["http://example.com"]"#)
        #expect(try Payload.refusal(list: list)?.code == .malformed)
    }

    @Test(
        "an answer redirects to this machine from this machine alone",
        arguments: [
            ("https://lists.example.com/a", "http://127.0.0.1:8080/b", false),
            ("https://lists.example.com/a", "http://LOCALHOST/b", false),
            ("https://lists.example.com/a", "https://[::1]/b", false),
            ("https://lists.example.com/a", "https://[::ffff:127.0.0.1]/b", false),
            ("https://lists.example.com/a", "http://cdn.example.com/b", false),
            ("https://lists.example.com/a", "https://cdn.example.com/b", true),
            ("http://127.0.0.1:1/a", "http://localhost:2/b", true),
            ("http://127.0.0.1:1/a", "https://cdn.example.com/b", true),
            ("", "http://127.0.0.1/b", false),
        ])
    func answerRedirectsToThisMachineFromThisMachineAlone(from address: String, to target: String, isAllowed: Bool) {
        #expect(ReportAddress.isAllowed(target, redirectedFrom: address) == isAllowed)
    }
}

extension String {
    fileprivate func replacingReports(with addresses: String) -> String {
        let part = #""reportTo": ["https://reports.example.com/v1/reports"],"#
        guard let range = self.range(of: part) else { return "" }
        return self.replacingCharacters(in: range, with: "\"reportTo\": \(addresses),")
    }
}
