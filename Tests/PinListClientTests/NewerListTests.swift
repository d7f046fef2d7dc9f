// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@_spi(Adapters) @testable import PinListClient

@Suite("A newer list, after a refusal")
struct NewerListTests {
    /// Whether a refusal of a path for a reason asks for a newer list.
    private static let reasons: [PinningDecision.Reason: Bool] = [
        .noMatchingPin: true, .transparency: true, .deniedKey: true, .deniedUndecidable: true, .unlistedDenied: true,
        .cleartext: true, .tampering: true, .otherHostConnection: true,
        // By a revocation list of a CA.
        .revoked: false, .revocationUnknown: false,
        .chainInvalid: false, .noCertificates: false, .overBudget: false, .hostInvalid: false, .malformed: false,
        .pinMatch: false, .notPinned: false, .suspended: false, .unlistedReported: false, .domainExpired: false,
        PinningDecision.Reason(code: "of-a-transport"): false,
    ]

    @Test("is asked for where it could change the verdict, which is decided on for each reason that there is")
    func isAskedForWhereItCouldChangeTheVerdict() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/CertificatePinning/PinningDecision+Reason.swift")
        let codes = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "Reason(code: \"")
            .dropFirst().map { String($0.prefix { $0 != "\"" }) }
        #expect(Set(codes).union(["of-a-transport"]) == Set(Self.reasons.keys.map(\.description)))

        let policy = PinningPolicy(unlisted: .allow)
        for (reason, isForPins) in Self.reasons {
            let refusal = policy.refusal(of: TestClient.host, reason, path: TestClient.strangePath)
            #expect(PinningError(refusal).isForPins == isForPins, "\(reason)")
        }
        // A client that was made for one host gives it to a request for another.
        #expect(!PinningError(policy.refusal(of: TestClient.host, .otherHostConnection)).isForPins)
    }

    @Test("is asked for where the list revokes a certificate, and not where a revocation list of its CA does")
    func isAskedForWhereTheListRevokesACertificate() throws {
        let path = try LoggingScene().unlogged
        let leaf = path.certificates[0]
        let fields = try CertificateFields(walking: leaf)
        let serial = try #require(SerialNumber(contents: leaf[fields.serialNumber]))
        let issuer = try Pin(publicKeyOf: path.certificates[1])
        let policy = try PinningPolicy(domains: [], revoked: [RevokedCertificates(issuer: issuer, serials: [serial])])
        let listed = policy.validate(path, for: TestClient.host, at: TestClient.start)
        #expect(listed.reason == .revoked && PinningError(listed).isForPins)
        #expect(!PinningError(policy.refusal(of: TestClient.host, .revoked)).isForPins)
    }

    @Test(
        "comes at once where hosts without an entry are denied, and where a certificate cannot be read, and once in five minutes",
        arguments: [PinningDecision.Reason.unlistedDenied, .deniedUndecidable, .noMatchingPin])
    func comesAtOnceAndOnceInFiveMinutes(reason: PinningDecision.Reason) async throws {
        let client = try TestClient()
        try client.publish { list in
            list.unlisted = .deny
            if reason == .deniedUndecidable { list.denied = [DeniedKey(Pin(kind: .publicKey, hashing: [9]))] }
        }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let host = reason == .unlistedDenied ? "new.example.com" : TestClient.host
        func decide() -> PinningDecision { pinning.decision(for: TestClient.strangePath, host: host) }
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.server.forgetRequests()
            let end = client.clock.now.advanced(by: 3_600)
            try client.publish { list in
                list.denied = []
                list.suspended = [Suspension(.everything, until: end, reason: "incident 4711")]
            }
            let events = pinning.events()
            #expect(decide().reason == reason)
            // The next list may be there before these have ended.
            for _ in 1..<100 { _ = decide() }
            for await event in events where event.kind == .listAccepted && pinning.version == 3 { break }
            #expect(decide().reason == .suspended)
            // The next list is not there yet: what a hostile network has refused does not ask again and again.
            try client.publish { $0.suspended = [] }
            let paths = client.server.paths
            #expect(await pinning.refresh().isSuccess)
            client.server.forgetRequests()
            for _ in 0..<100 { #expect(decide().verdict == .block) }
            client.clock.advance(by: 299)
            await client.clock.untilSleeping()
            #expect(paths == ["/root/2.json", "/pins.json"])
        }
        #expect(client.server.paths.isEmpty)
    }

    @Test(
        "is asked for after a mismatch, also where a host without an entry was refused a moment ago",
        arguments: [PinningDecision.Reason.unlistedDenied, .deniedUndecidable])
    func isAskedForAfterAMismatchAlsoWhereAHostWithoutAnEntryWasRefusedAMomentAgo(
        reason: PinningDecision.Reason
    ) async throws {
        let client = try TestClient()
        let isUnlisted = reason == .unlistedDenied
        try client.publish { list in
            list.unlisted = isUnlisted ? .deny : .allow
            list.denied = isUnlisted ? [] : [DeniedKey(Pin(kind: .publicKey, hashing: [9]))]
        }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.server.forgetRequests()
            // As an app's own analytics would be, all the time, or the server of a page.
            let unlisted = pinning.decision(for: TestClient.strangePath, host: "analytics.example.net")
            #expect(unlisted.reason == reason)
            while client.server.requests.count < 2 { await Task.yield() }
            while await pinning.refreshInFlight != nil { await Task.yield() }
            try client.publish()
            let changes = pinning.policyChanges()
            let mismatch = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            #expect(mismatch.reason == (isUnlisted ? .noMatchingPin : .deniedUndecidable))
            for await change in changes where change.listVersion == 3 { break }
            #expect(client.server.paths == ["/root/2.json", "/pins.json", "/root/2.json", "/pins.json"])
        }
    }

    @Test(
        "is the one that recovers from a stolen key's, though its version is lower, or the same",
        arguments: [2, 1_000_000] as [Int64])
    func isTheOneThatRecoversFromAStolenKeys(version: Int64) async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let shipped = pinning.policyInForce
        try client.publish { $0.version = 1_000_000 }
        #expect(await pinning.refresh().isSuccess)
        let rules = pinning.policyInForce
        #expect(rules.hasNewerList(than: shipped) && !shipped.hasNewerList(than: rules))
        try client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        // The root alone, and the attacker's list under it.
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.epoch > rules.epoch && !pinning.policyInForce.hasNewerList(than: rules))
        try client.publish { $0.version = version }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == version)
        try #require(pinning.policyInForce.hasNewerList(than: rules))
        #expect(await pinning.isList(newerThan: rules, within: 5))
        // After that, versions go on.
        let recovered = pinning.policyInForce
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.hasNewerList(than: recovered))
    }

    @Test("is not the same one with another signature")
    func isNotTheSameOneWithAnotherSignature() async throws {
        let client = try TestClient(pinsKeys: (2, 1))
        let keys = client.server.repository.pinsKeys
        try client.publish(signedBy: [keys[0]])
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let rules = pinning.policyInForce
        _ = try client.server.publish { try $0.republishList(signedBy: keys) }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.listDigest != rules.listDigest)
        #expect(!pinning.policyInForce.hasNewerList(than: rules))
    }
}
