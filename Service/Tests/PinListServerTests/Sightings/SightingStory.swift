// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import SwiftASN1
import Testing
import X509

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// Certificates as a log has them, really signed, with precertificates.
struct LoggedCertificates {
    let authority = P256.Signing.PrivateKey()
    private let start = TurnedClock.start.secondsSince1970

    private static func name(_ text: String) throws -> DistinguishedName {
        try DistinguishedName { CommonName(text) }
    }

    /// A pin.
    static func pin(_ key: P256.Signing.PrivateKey) -> Pin {
        Pin(kind: .publicKey, hashing: Array(key.publicKey.derRepresentation))
    }

    /// The authority's certificate.
    func issuer() throws -> [UInt8] {
        try self.certificate(for: [], key: self.authority, subject: "Example CA")
    }

    /// A certificate for names, which begins now.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - days: For how long it is valid.
    ///   - isPrecertificate: Whether it has the poison.
    func certificate(
        for names: [String], key: P256.Signing.PrivateKey, subject: String = "server", days: Int64 = 90,
        serial: Int = 7,
        isPrecertificate: Bool = false
    ) throws -> [UInt8] {
        var extensions: [Certificate.Extension] = []
        if !names.isEmpty {
            extensions.append(try .init(SubjectAlternativeNames(names.map { .dnsName($0) }), critical: false))
        }
        if isPrecertificate {
            extensions.append(.init(oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], critical: true, value: [5, 0]))
        }
        func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(serial), publicKey: .init(key.publicKey),
            notValidBefore: date(self.start), notValidAfter: date(self.start + days * 86_400),
            issuer: Self.name("Example CA"), subject: Self.name(subject), signatureAlgorithm: .ecdsaWithSHA256,
            extensions: .init(extensions), issuerPrivateKey: .init(self.authority))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// The body of a request.
    static func body(_ certificates: [(der: [UInt8], chain: [[UInt8]])], loggedAt: String? = nil) -> String {
        let each = certificates.map { der, chain in
            let chain = chain.map { "\"\(Base64.encode($0))\"" }.joined(separator: ",")
            let time = loggedAt.map { ", \"loggedAt\": \"\($0)\"" } ?? ""
            return #"{"der": "\#(Base64.encode(der))", "chain": [\#(chain)], "log": "https://log.example/"\#(time)}"#
        }
        return "{\"certificates\": [\(each.joined(separator: ","))]}"
    }
}

/// A service with a list whose keys are known, and a monitor's token.
struct SightingScene: Sendable {
    static let name = "com.example.app"
    static let path = "/v1/lists/com.example.app/sightings"

    let service: RunningService
    let token: String
    let publisher: String

    /// Runs one.
    static func with(
        _ domains: [PinList.Domain], denied: [Pin] = [], on tested: TestedStore = .sqlite,
        _ body: @Sendable (SightingScene, RepositorySimulator) async throws -> Void
    ) async throws {
        var simulator = try RepositorySimulator.story(domains)
        if !denied.isEmpty { try simulator.publishList { $0.denied = denied.map { DeniedKey($0) } } }
        let repository = simulator
        try await tested.withDatabase { open in
            let store = try open()
            // Another instance looks for alarms: what fires here is what a test asks for.
            try await store.write { store in
                _ = try store.takeLease("alarms", for: "elsewhere", at: TurnedClock.start, seconds: 1 << 40)
            }
            let proxies = [NetworkRange("127.0.0.1")].compactMap { $0 }
            try await RunningService.with(
                store,
                {
                    $0.roots = repository.anchors
                    $0.trustedProxies = proxies
                }
            ) { service in
                let publisher = try await service.token(.publish, [Self.name])
                let envelopes = [repository.roots[0]] + repository.lists
                for list in envelopes.dropFirst() {
                    #expect(try await service.publish([envelopes[0], list], token: publisher).status == 200)
                }
                let token = try await service.token(.probe, [Self.name])
                try await body(SightingScene(service: service, token: token, publisher: publisher), repository)
            }
        }
    }

    /// Hands certificates in.
    func tell(_ body: String, token: String? = nil) async throws -> RunningService.Answer {
        try await self.service.ask(
            .POST, Self.path, ["Authorization": "Bearer \(token ?? self.token)"], Array(body.utf8))
    }

    /// The states that the service answers.
    func states(_ certificates: [(der: [UInt8], chain: [[UInt8]])], loggedAt: String? = nil) async throws -> [String] {
        let answer = try await self.tell(LoggedCertificates.body(certificates, loggedAt: loggedAt))
        #expect(answer.status == 202, "\(answer.text)")
        guard case .object(let members)? = try? JSONValue(strict: answer.body),
            case .array(let evaluated)? = members.first?.value
        else { return [] }
        return evaluated.compactMap { value in
            guard case .object(let members) = value, case .string(let state)? = members.last?.value else { return nil }
            return state
        }
    }

    /// Copies the only certificate that is kept, as if its token had told so many.
    func copy(upTo count: Int) async throws {
        let columns = StoredSighting.columns
        try await self.service.store.write { store in
            let row = try #require(
                try store.connection.rows("SELECT \(columns.joined(separator: ", ")) FROM sighting", []).first)
            let rows = (1..<count).map { number in
                [row.values[0], .text(String(format: "%064d", number))] + row.values.dropFirst(2)
            }
            try store.connection.insert(rows, SQLInsertion(into: "sighting", columns))
        }
    }

    /// The alarms about certificates, as they would fire now.
    func alarms() async throws -> [Alarm] {
        let roots = try await self.service.store.read { try #require(try $0.roots(of: Self.name).first) }
        let parts = ServiceParts.story(self.service.store, anchors: [Self.name: roots], clock: self.service.clock)
        _ = try await parts.lists.reload(from: self.service.store)
        try await parts.evaluateSightings()
        return AlarmRules.alarms(try await parts.overview().alarmFacts).filter { $0.kind == .unexpectedCertificate }
    }
}
