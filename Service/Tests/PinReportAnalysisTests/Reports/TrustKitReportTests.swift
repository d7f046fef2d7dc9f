// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinReportAnalysis

@Suite(
    "TrustKit's own sample report",
    .enabled(
        if: SharedData.holds(SharedData.trustKitReport),
        "there is no ../shared/data/trustkit/sample_report.json beside the checkout"))
struct TrustKitReportTests {
    @Test("is read as it stands, escaped slashes and Windows line ends included; its vendor id is not kept")
    func isReadAsItStandsEscapedSlashesAndWindowsLineEndsIncludedItsVendorIdIsNotKept() throws {
        let body = [UInt8](try Data(contentsOf: SharedData.trustKitReport))
        let report = try ReportText.report(body)
        #expect(report.kind == .pin)
        #expect(report.reason == "no-matching-pin")
        #expect(report.claimedTime?.description == "2015-06-08T01:58:05Z")
        #expect(report.hostname == "www.datatheorem.com")
        #expect(report.notedHostname == "datatheorem.com")
        #expect(report.port == 443)
        #expect(report.includesSubdomains == true)
        #expect(report.isEnforced == true)
        #expect(report.app.bundleID == "com.datatheorem.testtrustkit2")
        #expect(report.app.platform == "IOS")
        #expect(report.app.platformVersion == "10.2.0")
        #expect(report.knownPins.count == 2)
        #expect(report.validatedChain.count == 3)
        #expect(report.isChainValidated)
        let leaf = try #require(report.leaf)
        #expect(leaf.subject.hasPrefix("CN=www.datatheorem.com, "))
        #expect(leaf.names == ["www.datatheorem.com"])
        #expect(leaf.notBefore?.description == "2014-10-02T00:00:00Z")
        #expect(leaf.notAfter?.description == "2015-11-01T23:59:59Z")
        #expect(report.issuer?.name == "CN=Thawte SSL CA, O=Thawte\\, Inc., C=US")
        #expect(report.issuer?.isNamedAsPublic == true)
        #expect(report.issuer?.pin != nil)
        // The pin of the sample's leaf, as openssl's pipeline prints it, is one of the readable chain.
        #expect(report.readableChain.compactMap { $0?.pin }.count == 3)
        let text = String(decoding: report.document, as: UTF8.self)
        #expect(!text.contains("599F9C00"))
        #expect(try ReportText.report(report.document) == report)
    }
}
