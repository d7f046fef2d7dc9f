// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import Testing

@testable import PinReportAnalysis

@Suite("Reports in the forms that senders have")
struct ReportFormatTests {
    private static let app = ReportedApp(
        bundleID: "com.example.app", version: "4.2", platform: "LINUX", platformVersion: "6.1", vendorID: "secret-id")
    private static let list = ReportedList(
        name: "com.example.app", version: 7, digest: Envelope.digest(of: [1]), expiresAt: ReportText.now,
        reportTo: ["https://reports.example.com/v1/reports"])

    @Test("the report of our own client on a failed pin is read back, and nothing else is kept")
    func reportOfOurOwnClientOnAFailedPinIsReadBackAndNothingElseIsKept() throws {
        let chain = SketchedChain.chain()
        let entry = PinnedDomain(
            try HostName("example.com"), includeSubdomains: true, mode: .enforce,
            pins: [KnownPin(Pin(kind: .publicKey, hashing: [9]))], reportTo: Self.list.reportTo)
        let decision = try PinningPolicy(domains: [entry]).validate(
            ValidatedPath(uncheckedValidatedPath: chain), for: "API.example.com.", at: ReportText.now)
        let sent = try #require(
            Report(
                decision, port: 8_443, served: Array(chain.prefix(1)), isWebView: false, list: Self.list,
                app: Self.app, signals: ["debugger"], at: ReportText.now))
        let report = try ReportText.report(sent.body)
        #expect(report.kind == .pin)
        #expect(report.reason == "no-matching-pin")
        #expect(report.claimedTime == ReportText.now)
        #expect(report.hostname == "api.example.com")
        #expect(report.notedHostname == "example.com")
        #expect(report.port == 8_443)
        #expect(report.isEnforced == true)
        #expect(report.includesSubdomains == true)
        #expect(report.expiresAt == Self.list.expiresAt)
        #expect(report.knownPins == [Pin(kind: .publicKey, hashing: [9])])
        #expect(report.list == .init(name: "com.example.app", version: 7, digest: Self.list.digest))
        #expect(
            report.app
                == .init(bundleID: "com.example.app", version: "4.2", platform: "LINUX", platformVersion: "6.1"))
        #expect(report.signals == ["debugger"])
        #expect(report.validatedChain == chain)
        #expect(report.servedChain == Array(chain.prefix(1)))
        #expect(report.leaf?.pin == (try Pin(publicKeyOf: chain[0])))
        #expect(report.issuer?.pin == (try Pin(publicKeyOf: chain[1])))
        #expect(report.issuer?.name == "CN=R11, O=Let's Encrypt")
        #expect(!String(decoding: report.document, as: UTF8.self).contains("secret-id"))
        #expect(try ReportText.report(report.document) == report)

        // Without room for certificates, the same in brief.
        let brief = try ReportText.report(sent.briefBody)
        #expect(brief.reason == "no-matching-pin")
        #expect(brief.chain == [])
        #expect(brief.leaf == nil)
        #expect(brief.issuer == nil)
    }

    @Test("a list incident with its envelope, of a size that no other report may have, and a stale list")
    func listIncidentWithItsEnvelopeOfASizeThatNoOtherReportMayHaveAndAStaleList() throws {
        let envelope = [UInt8](repeating: 0xfb, count: 4_194_304)
        let refusal = MetadataError.Code.equivocation
        let value: JSONValue = .object([
            .init("date-time", .string("2026-11-21T11:59:00Z")), .init("app-bundle-id", .string("com.example.app")),
            .init(
                "tumbler",
                .object([
                    .init("list-name", .string("com.example.app")), .init("list-version", .integer(7)),
                    .init("reason", .string(refusal.description)),
                    .init("envelope", .string(Base64.encode(envelope))),
                ])),
        ])
        let report = try ReportText.report(value.bytes)
        #expect(report.kind == .incident)
        #expect(report.reason == "equivocation")
        #expect(report.isReasonKnown)
        #expect(report.envelope == envelope)
        #expect(report.document.count < 1_000)
        let again = try ReportText.report(report.document)
        #expect(again.envelope == nil)
        #expect(again.kind == .incident)
        #expect(again.list == report.list)

        let stale = try #require(Report(stale: Self.list, app: Self.app, at: ReportText.now))
        let read = try ReportText.report(stale.body)
        #expect(read.kind == .incident)
        #expect(read.reason == "stale")
        #expect(read.list.digest == Self.list.digest)
    }

    @Test("RFC 7469, section 3: its example, made valid JSON, with blanks before the lines of the PEM")
    func rfc7469Section3ItsExampleMadeValidJSONWithBlanksBeforeTheLinesOfThePEM() throws {
        let chain = SketchedChain.chain()
        let pem = chain.map { certificate in
            PEMBlock(label: PEMBlock.certificateLabel, bytes: certificate).text
                .replacingOccurrences(of: "\n", with: "\\n       ")
        }
        let report = try ReportText.report(
            """
            {
              "date-time": "2014-04-06T13:00:50.25+02:00",
              "hostname": "www.example.com",
              "port": 443,
              "effective-expiration-date": "2014-05-01T12:40:50Z",
              "include-subdomains": false,
              "served-certificate-chain": ["\(pem[0])", "\(pem[1])"],
              "validated-certificate-chain": [],
              "known-pins": ["pin-sha256=\\"d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\\"",
                             "E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=", "pin-md5=\\"x\\""]
            }
            """)
        #expect(report.kind == .pin)
        #expect(report.reason == "no-matching-pin")
        #expect(report.claimedTime?.description == "2014-04-06T11:00:50Z")
        #expect(report.notedHostname == "www.example.com")
        #expect(report.expiresAt?.description == "2014-05-01T12:40:50Z")
        #expect(report.servedChain == chain)
        #expect(!report.isChainValidated)
        #expect(
            report.knownPins.map(\.description) == [
                "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=",
                "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=",
            ])
        #expect(report.app.version == nil)
        #expect(report.list.version == nil)
    }

    @Test(
        "TrustKit's numbers for what its validation found (TSKTrustEvaluationResult)",
        arguments: [
            (1, CollectedReport.Kind.pin, "no-matching-pin"), (2, .tls, "chain-invalid"),
            (3, .other, "invalid-parameters"), (4, .pin, "user-defined-trust-anchor"), (5, .other, "unhashable-key"),
            (0, .other, "pin-match"),
        ])
    func trustKitsNumbersForWhatItsValidationFoundTSKTrustEvaluationResult(
        result: Int, kind: CollectedReport.Kind, reason: String
    ) throws {
        let report = try ReportText.report(
            "{\"hostname\":\"a.example\",\"port\":\"443\",\"enforce-pinning\":1,\"validation-result\":\(result).0}")
        #expect(report.kind == kind)
        #expect(report.reason == reason)
        #expect(report.isReasonKnown)
        #expect(report.port == 443)
        #expect(report.isEnforced == true)
    }

    @Test("our reasons say more than the number, and a transport's own reason is counted by the number")
    func ourReasonsSayMoreThanTheNumberAndATransportsOwnReasonIsCountedByTheNumber() throws {
        func report(_ reason: String, _ result: Int64) throws -> CollectedReport {
            try ReportText.report(
                ReportText.body([
                    ("tumbler", .object([.init("reason", .string(reason))])), ("validation-result", .integer(result)),
                ]))
        }
        #expect(try report("cleartext", 3).kind == .cleartext)
        #expect(try report("denied-key", 1).kind == .pin)
        #expect(try report("chain-invalid", 2).kind == .tls)
        #expect(try report("domain-expired", 0).kind == .other)
        let own = try report("tunnel-collapsed", 2)
        #expect(own.kind == .tls)
        #expect(own.reason == "tunnel-collapsed")
        #expect(!own.isReasonKnown)
        #expect(try report("<script>", 1).reason == "unnamed")
        #expect(try report(String(repeating: "a", count: 65), 1).reason == "unnamed")
    }
}
