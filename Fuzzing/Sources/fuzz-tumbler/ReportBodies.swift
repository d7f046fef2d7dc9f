// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListMetadata
import PinReportAnalysis

/// A body of `POST /v1/reports`, and what the service derives from it: a group, and a likely cause.
enum ReportBodies: FuzzTarget {
    static let name = "report-bodies"

    private static let now = Timestamp(secondsSince1970: 1_795_219_200)
    private static let list = ReportedList(
        name: "com.example.app", version: 7, digest: Envelope.digest(of: []), expiresAt: Self.now,
        reportTo: ["https://reports.example.com/"])
    private static let app = ReportedApp(
        bundleID: "com.example.app", version: "1", platform: "LINUX", platformVersion: "6",
        vendorID: "identifier of a device")

    /// A failed pin, a list incident, and an array of entries.
    static var seeds: [[UInt8]] {
        let stale = Report(stale: self.list, app: self.app, at: self.now).map { [$0.body] } ?? []
        let refusal = Report(
            MetadataError(.pins, .equivocation, "x"), of: [1, 2, 3], list: self.list, app: self.app, at: self.now)
        let failure =
            self.report(host: "api.example.com", certificate: [1, 2, 3]).map { [$0.body, $0.briefBody] } ?? []
        let entries = """
            [{"type":"network-error","age":60500,"url":"https://u@api.example.com:8443/x?y","user_agent":"z",
            "body":{"sampling_fraction":0.5,"type":"tls.cert.date_invalid","elapsed_time":8e2}},
            {"type":"x","age":1,"body":{"hostname":"a","validation-result":4,"known-pins":[]}},{"type":"csp","body":{}}]
            """
        return stale + failure + (refusal.map { [$0.body] } ?? []) + [Array(entries.utf8)]
    }

    static func check(_ bytes: [UInt8]) {
        self.checkOwn(bytes)
        let read: CollectedReports
        do throws(ReportError) {
            read = try CollectedReport.read(bytes, at: self.now)
        } catch {
            precondition(ReportError.Code.all.contains(error.code) && [400, 413].contains(error.code.status))
            precondition(error.detail.utf8.count < 512)
            return
        }
        precondition(read.reports.count + read.ignored <= ReportBodyLimits.entries)
        for report in read.reports {
            self.check(report)
            self.checkCause(of: report)
        }
    }

    /// Checks what holds of every report.
    private static func check(_ report: CollectedReport) {
        let texts = [
            report.hostname, report.notedHostname, report.app.bundleID, report.app.version, report.app.platform,
            report.app.platformVersion, report.list.name,
        ]
        for text in texts.compactMap({ $0 }) + report.signals {
            precondition(PrintableText.line(text, maximumLength: ReportBodyLimits.textLength) == text)
        }
        precondition((1...ReportBodyLimits.reasonBytes).contains(report.reason.utf8.count))
        precondition(report.chain.count <= ReportBodyLimits.certificates)
        precondition(report.chain.reduce(0) { $0 + $1.count } <= ReportBodyLimits.chainBytes)
        precondition(report.readableChain.count == report.chain.count)
        for certificate in report.readableChain.compactMap({ $0 }) {
            precondition(certificate.names.count <= ReadableCertificate.maximumNames)
        }
        // A stored report is read back as it was, but for the envelope, and holds no identifier.
        guard let again = try? CollectedReport.read(report.document, at: self.now), again.reports.count == 1 else {
            preconditionFailure("a stored report is not read back")
        }
        precondition(again.reports[0].document == report.document)
        precondition(ReportGroup(again.reports[0]) == ReportGroup(report))
        precondition(report.envelope != nil || again.reports[0] == report)
    }

    private static func checkCause(of report: CollectedReport) {
        let group = ReportGroup(report)
        precondition(group.id.utf8.count == 64)
        var facts = GroupFacts(group: group, count: 3, seen: self.now...self.now)
        facts.issuerIsPublicCA = report.issuer?.isNamedAsPublic
        facts.clockSkew = report.claimedTime.map { $0.secondsSince1970 - self.now.secondsSince1970 }
        facts.signals = Set(report.signals)
        if let first = report.leaf?.notBefore, let last = report.leaf?.notAfter, first <= last {
            facts.leafValidity = first...last
        }
        for networks in [nil, BoundedCount(1), BoundedCount(256, isMore: true)] {
            for leaves in [0, 1, 16] {
                facts.networks = networks
                facts.leaves = BoundedCount(leaves)
                let cause = LikelyCause(of: facts)
                precondition(!cause.title.isEmpty && !cause.evidence.isEmpty && !cause.advice.isEmpty)
                precondition(cause.evidence.allSatisfy { $0.unicodeScalars.count < 4_096 })
            }
        }
    }

    /// The report of a host and a certificate that a stranger chose, as our own client writes it.
    private static func report(host: String, certificate: [UInt8]) -> Report? {
        let decision = PinningPolicy(unlisted: .deny).validate(
            ValidatedPath(uncheckedValidatedPath: [certificate]), for: host, at: self.now)
        return Report(
            decision, port: 443, served: [certificate], isWebView: false, list: self.list, app: self.app,
            signals: [host], at: self.now)
    }

    /// For everything that a server presents and for every name of a host, what our client wrote is read.
    private static func checkOwn(_ bytes: [UInt8]) {
        let host = String(decoding: bytes.prefix(512), as: UTF8.self)
        guard let report = self.report(host: host, certificate: bytes) else { return }
        guard let read = try? CollectedReport.read(report.body, at: self.now), let first = read.reports.first else {
            preconditionFailure("our own report is not read")
        }
        precondition(first.kind == .pin || first.reason == "host-invalid")
        precondition(first.list.version == 7 && first.claimedTime == self.now)
        let isKept = !bytes.isEmpty && bytes.count <= ReportLimits.chainBytes
        precondition(first.validatedChain == (isKept ? [bytes] : []))
        // A host may hold the words of the identifier; only then may what is kept.
        let identifier = Array("identifier of a device".utf8)
        precondition(bytes.contains(sequence: identifier) || !first.document.contains(sequence: identifier))
    }
}

extension [UInt8] {
    /// Whether some bytes stand within these.
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        guard self.count >= sequence.count else { return false }
        return (0...(self.count - sequence.count)).contains { self[$0..<($0 + sequence.count)].elementsEqual(sequence) }
    }
}
