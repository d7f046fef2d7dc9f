// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("What an operator sees of attested reports, and that no key id is seen", .runsPostgreSQL)
struct AttestedFigureTests {
    private static let name = AttestedInstallation.name

    private let authority: SimulatedAttestationAuthority

    init() throws { self.authority = try SimulatedAttestationAuthority(at: TurnedClock.start) }

    /// A service that has two attested reports of one installation, one with an assertion that was replayed, and one
    /// without any.
    private func run(
        _ tested: TestedStore, _ body: @Sendable (RunningService, any ServiceStore, [UInt8]) async throws -> Void
    ) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                var installation = AttestedInstallation(authority)
                #expect(try await installation.register(at: service).status == 201)
                #expect(try await installation.report(to: service).status == 202)
                let challenge = try await AttestedInstallation.challenge(service)
                let field = try installation.assertion(over: ReportText.body(), challenge)
                for _ in 0..<2 {
                    #expect(try await service.report(ReportText.body(), ["Tumbler-Assertion": field]).status == 202)
                }
                #expect(try await service.report(ReportText.body()).status == 202)
                #expect(
                    try await AttestedService.states(store) == ["attested 0 2", "unattested 0 1", "unattested 5 1"])
                try await body(service, store, installation.key.keyID)
            }
        }
    }

    /// What `/v1/status` says of the list's attestation, with a share of attested reports.
    private static func status(_ service: RunningService, share: String) async throws -> [String: JSONValue] {
        let answer = try await service.ask(.GET, "/v1/status")
        guard case .object(let members) = try JSONValue(strict: answer.body, numbers: .truncated),
            case .array(let names)? = members.first(where: { $0.name == "names" })?.value,
            case .object(let name)? = names.first,
            case .object(let attestation)? = name.first(where: { $0.name == "attestation" })?.value
        else { return [:] }
        // Numbers are read without their fraction.
        #expect(answer.text.contains("\"share\":\(share)"), "\(answer.text)")
        return Dictionary(uniqueKeysWithValues: attestation.map { ($0.name, $0.value) })
    }

    @Test("metrics, the status and Now say the same, until made-up reports are the more", arguments: TestedStore.all)
    func metricsTheStatusAndNowSayTheSameUntilMadeUpReportsAreTheMore(on tested: TestedStore) async throws {
        try await self.run(tested) { service, _, _ in
            for (more, unattested, ratio, isCounted, words) in [
                (0, Int64(2), "0.5", false, "warn, and raise no critical alarm by themselves"),
                (1, 3, "0.4", true, "count like attested ones: under half of the reports were attested"),
            ] {
                for _ in 0..<more { _ = try await service.report(ReportText.body()) }
                let metrics = try await service.ask(.GET, "/metrics").text.split(separator: "\n")
                for line in [
                    #"tumbler_reports_attestation_total{state="attested"} 2"#,
                    #"tumbler_reports_attestation_total{state="unattested"} \#(unattested)"#,
                    #"tumbler_reports_attestation_total{state="not asked"} 0"#,
                    #"tumbler_attested_keys{name="\#(Self.name)"} 1"#,
                    #"tumbler_attested_ratio{name="\#(Self.name)"} \#(ratio)"#,
                    #"tumbler_unattested_counted{name="\#(Self.name)"} \#(isCounted ? 1 : 0)"#,
                ] {
                    #expect(metrics.contains { $0 == line }, "\(line)")
                }
                let status = try await Self.status(service, share: ratio)
                #expect(status["attested"] == .integer(2) && status["unattested"] == .integer(unattested))
                #expect(status["keys"] == .integer(1) && status["countsUnattested"] == .bool(isCounted))
                let now = try await service.ask(.GET, "/").text
                #expect(now.contains("\(ratio == "0.5" ? 50 : 40) %") && now.contains(words), "\(now)")
            }
        }
    }

    @Test(
        "exports have the state and the step of each report, and the audit log the registration",
        arguments: TestedStore.all)
    func exportsHaveTheStateAndTheStepOfEachReport(on tested: TestedStore) async throws {
        try await self.run(tested) { service, _, _ in
            let lines = try await service.ask(.GET, "/v1/reports?format=jsonl").text.split(separator: "\n")
            let ends = lines.map { line in line.range(of: "\"attestation\"").map { String(line[$0.lowerBound...]) } }
            #expect(
                ends == [
                    #""attestation":"attested","attestation-step":null}"#,
                    #""attestation":"attested","attestation-step":null}"#,
                    #""attestation":"unattested","attestation-step":5}"#,
                    #""attestation":"unattested","attestation-step":null}"#,
                ])
            let rows = try await service.ask(.GET, "/v1/reports?format=csv").text.components(separatedBy: "\r\n")
            #expect(rows.first?.hasSuffix(",attestation,attestation-step") == true)
            #expect(
                rows.dropFirst().prefix(4).map { $0.split(separator: ",", omittingEmptySubsequences: false).suffix(2) }
                    == [
                        [#""attested""#, ""], [#""attested""#, ""], [#""unattested""#, "5"], [#""unattested""#, ""],
                    ])
        }
    }

    @Test("the key id is in no export, no page, no figure, and in no table but that of the keys")
    func keyIDIsInNoExportNoPageNoFigureAndInNoTableButThatOfTheKeys() async throws {
        try await self.run(.sqlite) { service, store, keyID in
            let groups = try await store.read { try $0.groups(GroupFilter(), newest: [:]).map(\.id) }
            let written = Self.written(keyID)
            for path in ["/v1/reports?format=jsonl", "/v1/reports?format=csv", "/v1/status", "/metrics"]
                + ["/", "/failures", "/hosts", "/adoption", "/lists", "/audit", "/alarms"]
                + groups.map({ "/failures/\($0)" })
            {
                let answer = try await service.ask(.GET, path)
                #expect(answer.status == 200, "\(path)")
                #expect(!written.contains { answer.text.contains($0) }, "\(path)")
            }
            let tables = try await store.read { store in
                try store.connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'", []).map {
                    try $0.text(0)
                }
            }
            #expect(tables.contains("report") && tables.contains("report_group") && groups.count == 2)
            var having: [String] = []
            for table in tables {
                let values = try await store.read { store in
                    try store.connection.rows("SELECT * FROM \"\(table)\"", []).flatMap(\.values)
                }
                if values.contains(where: { Self.has($0, keyID) }) { having.append(table) }
            }
            #expect(having == ["attested_key"])
        }
    }

    /// The forms in which a key id is written.
    private static func written(_ keyID: [UInt8]) -> [String] {
        let base64 = Base64.encode(keyID)
        let url = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return [base64, url, keyID.map { String(format: "%02x", $0) }.joined()]
    }

    private static func has(_ value: SQLValue, _ keyID: [UInt8]) -> Bool {
        switch value {
        case .blob(let bytes):
            bytes.indices.contains { bytes[$0...].starts(with: keyID) }
                || self.written(keyID).contains { String(decoding: bytes, as: UTF8.self).contains($0) }
        case .text(let text): self.written(keyID).contains { text.contains($0) }
        default: false
        }
    }

    @Test("Apple's receipt is kept with the key where that is configured, byte for byte", arguments: TestedStore.all)
    func applesReceiptIsKeptWithTheKeyWhereThatIsConfiguredByteForByte(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority, keepsReceipts: true) { service in
                let installation = AttestedInstallation(authority)
                let challenge = try await AttestedInstallation.challenge(service)
                let body = try installation.registration(challenge)
                #expect(try await service.ask(.POST, "/v1/attest/keys", [:], body).status == 201)
                guard case .object(let members) = try JSONValue(strict: body),
                    case .string(let text)? = members.first(where: { $0.name == "attestation" })?.value
                else {
                    Issue.record("the body has no attestation")
                    return
                }
                let sent = try await AttestationVerifier(
                    appID: AttestedInstallation.appID, environment: .production, root: authority.root
                ).verify(
                    try #require(Base64.decode(text.utf8)), keyID: installation.key.keyID,
                    challenge: .bytes(challenge), at: TurnedClock.start)
                let kept = try await store.read { store in
                    try store.connection.rows("SELECT receipt FROM attested_key", []).map(\.values)
                }
                #expect(kept == [[.blob(sent.receipt)]] && !sent.receipt.isEmpty)
            }
        }
    }
}
