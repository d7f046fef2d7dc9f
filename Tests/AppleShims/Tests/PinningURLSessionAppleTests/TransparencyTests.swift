// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import PinningURLSession
import Security
import SwiftASN1
import Testing
import X509

@Suite("A trust object under a list that asks for Certificate Transparency")
struct TransparencyTests {
    private static let host = "api.example.com"

    @Test("is refused when no log has seen the pinned certificate, and allowed when two logs signed it")
    func isRefusedWhenNoLogHasSeenThePinnedCertificateAndAllowedWhenTwoLogsSignedIt() async throws {
        let pki = try TestPKI([Self.host])
        let now = TestPKI.now
        func leaf(_ others: [Certificate.Extension]) throws -> TestCertificate {
            try TestCertificate("server", by: pki.intermediate, key: pki.leaf.key) { form in
                form.around(now)
                form.names = [.dnsName(Self.host)]
                form.keyUsage = KeyUsage(digitalSignature: true)
                form.purposes = [.serverAuth]
                form.others = others
            }
        }
        let unlogged = try leaf([])
        let logs = [SigningLog("A"), SigningLog("B")]
        let fields = try CertificateFields(walking: unlogged.der)
        let value = try SigningLog.extensionValue(
            of: logs, over: Array(unlogged.der[fields.toBeSigned]), issuerKey: pki.intermediate.pin.digest,
            at: now - 3_600)
        let logged = try leaf([
            Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], critical: false, value: value[...])
        ])

        var entry = try Phone.entry(Self.host, [pki.leaf.pin])
        entry.transparency = TransparencyRule(.enforce, .chrome)
        let phone = try Phone([entry], trusting: [pki.root])
        let file = SigningLog.list(of: logs, at: Timestamp(secondsSince1970: now - 86_400).description)
        try phone.lists.publish { repository in
            repository.logFiles = [file]
            _ = try repository.publishList { $0.logs = ListedLogs(of: file) }
        }
        #expect(await phone.pinning.refresh().logsFailure == nil)
        for (leaf, reason) in [
            (unlogged, PinningDecision.Reason.transparency), (logged, .pinMatch), (unlogged, .transparency),
        ] {
            let policy = SecPolicyCreateSSL(true, Self.host as CFString)
            let trust = try #require(HandMade.trust([leaf, pki.intermediate], policy))
            let decision = phone.pinning.evaluate(trust: trust, host: Self.host)
            #expect(decision.reason == reason && decision.verdict == (reason == .pinMatch ? .allow : .block))
            #expect(decision.transparency?.isSatisfied == (reason == .pinMatch))
        }
    }
}
