// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListMetadata
import PinningTesting

/// What the reports are about.
enum Scene {
    /// 2026-11-21T00:00:00Z.
    static let start = Timestamp(secondsSince1970: 1_795_219_200)
    static let hour: Int64 = 3_600

    static let collector = "https://reports.example.com/v1/reports"

    static let app = ReportedApp(
        bundleID: "com.example.app", version: "4.2", platform: "LINUX", platformVersion: "6.1")

    static let list = ReportedList(
        name: "com.example.app", version: 7, digest: Envelope.digest(of: [1]),
        expiresAt: Self.start.advanced(by: 86_400),
        reportTo: [Self.collector])

    /// The frame of a certificate: two names and a key.
    static func certificate(subject: [UInt8], issuer: [UInt8], key: [UInt8]) -> [UInt8] {
        func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
            let bytes = contents.flatMap { $0 }
            return bytes.count < 128
                ? [tag, UInt8(bytes.count)] + bytes
                : [tag, 0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
        }
        let body = element(
            0x30, element(0x02, [1]), element(0x30), element(0x30, issuer), element(0x30), element(0x30, subject),
            element(0x30, element(0x30), element(0x03, [0] + key)))
        return element(0x30, body, element(0x30), element(0x03, [0]))
    }

    /// A leaf by an issuer, and that issuer.
    static func chain(leafKey: UInt8 = 1, issuerKey: UInt8 = 2) -> [[UInt8]] {
        [
            self.certificate(subject: [1], issuer: [2], key: [leafKey]),
            self.certificate(subject: [2], issuer: [2], key: [issuerKey]),
        ]
    }

    /// An entry whose pins match nothing here.
    static func entry(_ host: String, mode: PinnedDomain.Mode = .enforce) throws -> PinnedDomain {
        PinnedDomain(
            try HostName(host), includeSubdomains: true, mode: mode,
            pins: [KnownPin(Pin(kind: .publicKey, hashing: [9])), KnownPin(Pin(kind: .certificate, hashing: [9]))],
            reportTo: [self.collector])
    }

    /// A decision on a host by some entries.
    static func decision(
        _ host: String, entries: [PinnedDomain], chain: [[UInt8]] = Self.chain(), denied: [DeniedKey] = [],
        unlisted: UnlistedHosts = .allow
    ) throws -> PinningDecision {
        try PinningPolicy(
            list: ListIdentity(name: "com.example.app", version: 7, stale: false), domains: entries, denied: denied,
            unlisted: unlisted
        ).validate(ValidatedPath(uncheckedValidatedPath: chain), for: host, at: self.start)
    }

    /// The report of a mismatch on a host with an entry of its own.
    static func report(
        _ host: String = "api.example.com", port: Int = 443, chain: [[UInt8]] = Self.chain(),
        list: ReportedList = Self.list, isWebView: Bool = false
    ) throws -> Report {
        let decision = try self.decision(host, entries: [self.entry(host)], chain: chain)
        guard
            let report = Report(
                decision, port: port, served: chain, isWebView: isWebView, list: list, app: self.app, at: self.start)
        else { throw Missing() }
        return report
    }

    /// There is no report where one must be.
    struct Missing: Error {}
}
