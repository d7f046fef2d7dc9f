// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import PinListServer
@testable import PinReportAnalysis

extension Story {
    static let rotation = FailureGroup(
        id: "1f0c", host: "api.bank.example", reason: "no-matching-pin", cause: .rotation,
        evidence: [
            "391 networks see one leaf that was not seen before 13:40.", "Its issuer is a public CA.",
        ],
        listVersion: 43, leafPin: Self.pin("q"), issuer: "CN=R13, O=Let's Encrypt, C=US", appVersion: "7.4.1",
        reports: 2_986, networks: 391, firstSeen: Self.ago(6 * 3_600), lastSeen: Self.ago(40),
        series: Self.hours(mean: 0, burst: Self.rotationBurst, seed: 11), attestation: "attested")

    static let interception = FailureGroup(
        id: "77ab", host: "api.bank.example", reason: "no-matching-pin", cause: .interception,
        evidence: ["2 networks only, on work days only; no other network sees this issuer."], listVersion: 43,
        leafPin: Self.pin("Z"), issuer: "CN=Zscaler Intermediate Root CA (zscalertwo.net), O=Zscaler Inc., C=US",
        appVersion: "7.4.1", reports: 214, networks: 2, firstSeen: Self.ago(6 * 86_400), lastSeen: Self.ago(3_900),
        series: Self.hours(mean: 2, gap: 60..<90, seed: 12), attestation: "unattested")

    static let groups = [
        Self.rotation, Self.interception,
        FailureGroup(
            id: "aa01", host: "cdn.bank.example", reason: "no-matching-pin", cause: .staleClients,
            evidence: ["Only installations with list 39 or older fail."], listVersion: 38, leafPin: Self.pin("m"),
            issuer: "CN=GlobalSign Atlas R3 DV TLS CA 2026 Q3, O=GlobalSign nv-sa, C=BE", appVersion: "6.9.0",
            reports: 180, networks: 96, firstSeen: Self.ago(86_400 * 5), lastSeen: Self.ago(600),
            series: Self.hours(mean: 14, burst: [22, 30, 38, 41], seed: 13)),
        FailureGroup(
            id: "aa02", host: "login.bank.example", reason: "chain-invalid", cause: .clockErrors,
            evidence: ["Valid certificates; the devices' clocks are between 2 and 9 years behind."], listVersion: 43,
            leafPin: nil, issuer: "CN=R12, O=Let's Encrypt, C=US", appVersion: "7.4.0", reports: 37, networks: 31,
            firstSeen: Self.ago(86_400 * 6), lastSeen: Self.ago(9_000), series: Self.hours(mean: 0.6, seed: 14)),
        FailureGroup(
            id: "aa03", host: "push.bank.example", reason: "cleartext", cause: .cleartext,
            evidence: ["One address in one version of the app."], listVersion: nil, leafPin: nil, issuer: "",
            appVersion: "7.5.0-beta2", reports: 9, networks: 3, firstSeen: Self.ago(86_400), lastSeen: Self.ago(50_000),
            series: Self.hours(mean: 1.2, seed: 15)),
    ]

    static func failuresPage(_ filter: FailureFilter = FailureFilter(), groups: [FailureGroup]? = nil) -> FailuresPage {
        let groups = groups ?? Self.groups.filter { filter.host.isEmpty || $0.host == filter.host }
        return FailuresPage(
            filter: filter, hosts: ["api.bank.example", "cdn.bank.example", "login.bank.example", "push.bank.example"],
            reasons: ["chain-invalid", "cleartext", "no-matching-pin"],
            versions: ["7.5.0-beta2", "7.4.1", "7.4.0", "6.9.0"],
            groups: groups, isCut: false, pinReports: 3_389, otherReports: 37,
            series: Self.hours(mean: 30, burst: Self.rotationBurst, gap: 100..<104, seed: 16))
    }

    static let pem =
        "-----BEGIN CERTIFICATE-----\n"
        + String(repeating: String(repeating: "MIIDSjCCAjKgAwIB", count: 4) + "\n", count: 18)
        + "-----END CERTIFICATE-----\n"

    static let certificates = [
        SeenCertificate(
            subject: "CN=api.bank.example", issuer: "CN=R13, O=Let's Encrypt, C=US",
            names: ["api.bank.example", "api2.bank.example"], validity: Self.ago(18_000)...Self.ahead(days: 90),
            pin: Self.pin("q"), isPinned: false, key: "P-256", pem: Self.pem),
        SeenCertificate(
            subject: "CN=R13, O=Let's Encrypt, C=US",
            issuer: "CN=ISRG Root X1, O=Internet Security Research Group, C=US",
            names: [], validity: Self.ago(86_400 * 500)...Self.ahead(days: 480), pin: Self.pin("r"), isPinned: false,
            key: "RSA 2048", pem: Self.pem),
    ]

    static let json = """
        {
          "date-time": "2026-11-21T18:41:20Z",
          "hostname": "api.bank.example",
          "port": 443,
          "noted-hostname": "api.bank.example",
          "include-subdomains": true,
          "enforce-pinning": true,
          "known-pins": ["pin-sha256=\\"cccccccccccccccccccccccccccccccccccccccccccA=\\""],
          "validation-result": 1,
          "tumbler": {"list-name": "com.example.bank", "list-version": 43, "reason": "no-matching-pin", "signals": []}
        }
        """

    static var failurePage: FailureGroupPage {
        FailureGroupPage(
            group: self.rotation, certificates: self.certificates,
            networks: [.init(label: "2026-11-21", count: 391)],
            apps: [
                .init(label: "Android 16 · 7.4.1", count: 1_702), .init(label: "iOS 26.1 · 7.4.1", count: 1_101),
                .init(label: "Android 15 · 7.4.1", count: 183),
            ],
            samples: [
                .init(receivedAt: self.ago(40), json: self.json), .init(receivedAt: self.ago(95), json: self.json),
            ])
    }
}
