// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// An installation of an app that speaks to a service, as the contract says: what it signs is written here anew.
struct AttestedInstallation {
    static let appID = "ABCDE12345.com.example.app"
    static let name = "com.example.app"

    var key: SimulatedAttestedKey
    /// The address of the installation, as the proxy says it.
    var address: String

    init(
        _ authority: SimulatedAttestationAuthority, at address: String = "192.0.2.1", appID: String = Self.appID,
        form: SimulatedAttestedKey.Form = .plain
    ) {
        self.key = SimulatedAttestedKey(under: authority, appID: appID, form: form)
        self.address = address
    }

    private var fields: HTTPHeaders { ["X-Forwarded-For": self.address] }

    static func challenge(_ service: RunningService) async throws -> [UInt8] {
        let answer = try await service.ask(.POST, "/v1/attest/challenges", [:])
        #expect(answer.status == 201)
        return try #require(answer.member("challenge").flatMap { Base64.decode($0.utf8) })
    }

    /// The body that registers it.
    func registration(_ challenge: [UInt8], name: String = Self.name) throws -> [UInt8] {
        let attestation = try self.key.attestation(clientDataHash: Array(SHA256.hash(data: challenge)))
        return JSONValue.object([
            .init("name", .string(name)), .init("keyId", .string(Base64.encode(self.key.keyID))),
            .init("challenge", .string(Base64.encode(challenge))),
            .init("attestation", .string(Base64.encode(attestation))),
        ]).bytes
    }

    func register(at service: RunningService) async throws -> RunningService.Answer {
        let body = try self.registration(try await Self.challenge(service))
        return try await service.ask(.POST, "/v1/attest/keys", self.fields, body)
    }

    /// The field of a report.
    mutating func assertion(over body: [UInt8], _ challenge: [UInt8], name: String = Self.name) throws -> String {
        let clientData = SHA256.hash(
            data: Array("tumbler-report-1".utf8) + [0] + Array(name.utf8) + [0] + challenge + body)
        let hash = Array(SHA256.hash(data: Array(clientData)))
        let assertion = try self.key.assertion(clientDataHash: hash)
        return Base64.encode(
            JSONValue.object([
                .init("keyId", .string(Base64.encode(self.key.keyID))),
                .init("challenge", .string(Base64.encode(challenge))),
                .init("assertion", .string(Base64.encode(assertion))),
            ]).bytes)
    }

    /// Sends an attested report.
    mutating func report(
        _ body: [UInt8] = ReportText.body(), to service: RunningService
    ) async throws -> RunningService.Answer {
        let field = try self.assertion(over: body, try await Self.challenge(service))
        return try await service.report(body, self.fields + [("Tumbler-Assertion", field)])
    }
}

/// A published list that asks for attestations, and what its service keeps.
enum AttestedService {
    private static func repository() throws -> RepositorySimulator {
        try RepositorySimulator.story([try .pinned("example.com")])
    }

    /// Runs a service whose list asks for attestations under a root of the tests.
    ///
    /// - Parameters:
    ///   - burst: How many reports a source may send at once, where it is not the usual number.
    ///   - keepsReceipts: Whether Apple's receipts are kept.
    static func with(
        _ store: any ServiceStore, _ authority: SimulatedAttestationAuthority, clock: TurnedClock = TurnedClock(),
        burst: Int? = nil, keepsReceipts: Bool = false, _ body: @Sendable (RunningService) async throws -> Void
    ) async throws {
        let repository = try Self.repository()
        if try await store.read({ try $0.names() }).isEmpty {
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: AttestedInstallation.name, by: "cli",
                at: TurnedClock.start)
        }
        let anchors = try await store.read { store in
            [AttestedInstallation.name: try store.roots(of: AttestedInstallation.name)[0]]
        }
        let proxy = try #require(NetworkRange("127.0.0.1"))
        try await RunningService.with(
            store, clock: clock,
            { configuration in
                configuration.roots = anchors
                configuration.trustedProxies = [proxy]
                var asked = Self.asked(authority)
                asked.keepsReceipts = keepsReceipts
                configuration.attestation[AttestedInstallation.name] = asked
                if let burst { configuration.reportLimits.sourceBurst = burst }
            }, body)
    }

    static func asked(_ authority: SimulatedAttestationAuthority) -> NameAttestation {
        var asked = NameAttestation(appIDs: ["ABCDE12345.com.example.other", AttestedInstallation.appID])
        asked.root = authority.root
        return asked
    }

    /// The stored reports: the state, the step, and their number.
    static func states(_ store: any ServiceStore) async throws -> [String] {
        try await store.read { store in
            try store.connection.rows(
                """
                SELECT attestation, COALESCE(attestation_step, 0), COUNT(*) FROM report
                GROUP BY attestation, attestation_step ORDER BY attestation, COALESCE(attestation_step, 0)
                """, []
            ).map { "\(try $0.text(0)) \(try $0.integer(1)) \(try $0.integer(2))" }
        }
    }

    /// The alarms of failures, each as its severity and what it says.
    static func alarms(_ store: any ServiceStore, at clock: TurnedClock) async throws -> [Alarm] {
        var configuration = ServiceConfiguration()
        let authority = try SimulatedAttestationAuthority(at: TurnedClock.start)
        configuration.roots = try await store.read { store in
            [AttestedInstallation.name: try store.roots(of: AttestedInstallation.name)[0]]
        }
        configuration.attestation[AttestedInstallation.name] = Self.asked(authority)
        let parts = ServiceParts(
            configuration, store: store, clock: clock, instance: "looks", logger: RunningService.silent)
        _ = try await parts.lists.reload(from: store)
        let overview = try await parts.overview()
        let causes = try await store.read { try overview.leadingCauses(in: $0) }
        return AlarmRules.alarms(overview.alarmFacts(causes)).filter { $0.kind == .failureRate }
    }
}
