// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinReportAnalysis

/// https://www.w3.org/TR/reporting-1/, section 2.3, and https://www.w3.org/TR/network-error-logging/, sections 6 and 7.
@Suite("Arrays of the Reporting API")
struct ReportingAPITests {
    private func read(_ text: String) throws -> CollectedReports {
        try CollectedReport.read(Array(text.utf8), at: ReportText.now)
    }

    @Test("a failure of TLS is one of the other failures; the rest is counted, not refused")
    func failureOfTLSIsOneOfTheOtherFailuresTheRestIsCountedNotRefused() throws {
        let read = try self.read(
            """
            [{"type": "network-error", "age": 60500, "url": "https://api.example.com:8443/secret?token=1",
              "user_agent": "Mozilla/5.0", "body": {"sampling_fraction": 0.5, "referrer": "https://private.example/",
              "server_ip": "192.0.2.1", "protocol": "h2", "method": "GET", "status_code": 0, "elapsed_time": 823.25,
              "phase": "connection", "type": "tls.cert.date_invalid"}},
             {"type": "network-error", "age": 0, "url": "https://api.example.com/",
              "body": {"type": "tls.cert.pinned_key_not_in_cert_chain"}},
             {"type": "network-error", "age": 0, "url": "https://api.example.com/",
              "body": {"type": "dns.unreachable"}},
             {"type": "csp-violation", "age": 1e3, "url": "https://api.example.com/", "body": {"documentURL": "x"}},
             {"type": "deprecation", "body": {"id": "x", "lineNumber": null}}]
            """)
        #expect(read.ignored == 3)
        try #require(read.reports.count == 2)
        #expect(read.reports[0].kind == .tls)
        #expect(read.reports[0].reason == "tls.cert.date_invalid")
        #expect(read.reports[0].isReasonKnown)
        #expect(read.reports[0].hostname == "api.example.com")
        #expect(read.reports[0].port == 8_443)
        #expect(read.reports[0].claimedTime?.description == "2026-11-21T11:59:00Z")
        #expect(read.reports[1].kind == .pin)
        #expect(read.reports[1].reason == "no-matching-pin")
        #expect(read.reports[1].port == 443)
        for report in read.reports {
            let text = String(decoding: report.document, as: UTF8.self)
            for secret in ["secret", "token", "Mozilla", "192.0.2.1", "private.example"] {
                #expect(!text.contains(secret))
            }
            #expect(try ReportText.report(report.document) == report)
        }
    }

    @Test(
        "a report that names no noted host is one of the published entry that applies, and one that does names its own")
    func reportThatNamesNoNotedHostIsOneOfThePublishedEntryThatApplies() throws {
        let bodies = [
            "[{\"type\": \"network-error\", \"url\": \"https://A.b.example.com/\", \"body\": {\"type\": \"tls.failed\"}}]",
            "{\"hostname\": \"a.b.example.com\", \"validation-result\": 1}",
            "{\"hostname\": \"a.b.example.com\", \"noted-hostname\": \"b.example.com\", \"validation-result\": 1}",
            "{\"hostname\": \"elsewhere.example\", \"validation-result\": 1}",
        ]
        let noted = try bodies.map { body in
            let read = try CollectedReport.read(Array(body.utf8), at: ReportText.now) { host in
                host.description.hasSuffix(".example.com") ? "example.com" : nil
            }
            let report = try #require(read.reports.first)
            // The stored form says it, and is read accordingly.
            #expect(try ReportText.report(report.document) == report)
            return report.notedHostname
        }
        #expect(noted == ["example.com", "example.com", "b.example.com", "elsewhere.example"])
    }

    @Test("a body with the members of RFC 7469, under any name")
    func bodyWithTheMembersOfRFC7469UnderAnyName() throws {
        let inner = String(decoding: ReportText.body(), as: UTF8.self)
        let read = try self.read("[{\"type\": \"x-pins\", \"age\": 5, \"url\": \"https://a/\", \"body\": \(inner)}]")
        #expect(read.reports == [try ReportText.report(inner)])
        #expect(read.ignored == 0)
    }

    @Test("an empty array holds nothing; one that is too long is asked for in parts; one bad entry refuses all")
    func emptyArrayHoldsNothingOneThatIsTooLongIsAskedForInParts() throws {
        #expect(try self.read("[]") == CollectedReports.none)
        let entry = "{\"type\":\"a\",\"body\":{}}"
        func entries(_ count: Int) -> String {
            "[" + Array(repeating: entry, count: count).joined(separator: ",") + "]"
        }
        #expect(try self.read(entries(128)).ignored == 128)
        #expect(ReportText.defect(entries(129))?.code == .tooLarge)
        let defect = ReportText.defect("[\(entry),{\"type\":\"a\"}]")
        #expect(defect?.code == .notReport)
        #expect(defect?.detail.hasPrefix("entry 2 ") == true)
        #expect(ReportText.defect("[7]")?.code == .wrongType)
    }

    @Test(
        "of a page's address the host is read, however it is dressed up",
        arguments: [
            ("https://user:secret@api.example.com/x", "api.example.com", 443 as Int?),
            ("https://api.example.com\\\\@evil.example/", "api.example.com", 443),
            ("http://API.Example.com", "api.example.com", 80), ("https://[2001:DB8::1]:99/", "2001:db8::1", 99),
            ("https://api.example.com:99999/", "api.example.com", 443), ("about:blank", "", nil),
        ])
    func ofAPagesAddressTheHostIsReadHoweverItIsDressedUp(url: String, host: String, port: Int?) throws {
        let text = "[{\"type\":\"network-error\",\"url\":\"\(url)\",\"body\":{\"type\":\"tls.failed\"}}]"
        let report = try #require(try self.read(text).reports.first)
        #expect(report.hostname == host)
        #expect(report.port == port)
        #expect(report.claimedTime == nil)
    }
}

extension CollectedReports {
    /// The reports of an empty array.
    fileprivate static var none: CollectedReports? { try? CollectedReport.read(Array("[ ]".utf8), at: ReportText.now) }
}
