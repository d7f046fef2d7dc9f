// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

/// What apps of earlier days kept that sign their reports is in `Tests/Fixtures`: the state folder, in which a report
/// waits, and what the Keychain has of the key. It is never made again: an app that is updated has to go on with its
/// key, because a new one is counted as another installation.
@Suite("What earlier clients kept that sign their reports")
struct KeptAttestationTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)  // 2026-11-21T00:00:00Z
    private static let host = "api.example.com"
    private static let origin = "https://pins.example.com"
    private static let reports = "https://pins.example.com/v1/reports"
    private static let keyFile = "attestation-key.json"

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/released")

    /// The versions whose folders there are, the newest last.
    static let released: [String] = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path)) ?? []
        return versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }()

    private static func kept(_ version: String) -> URL {
        Self.fixtures.appendingPathComponent("\(version)/client-attested")
    }

    /// What the Keychain has, as a file.
    private struct KeyFile: AttestationKeyStore {
        let url: URL

        func load() throws -> [UInt8]? { (try? Data(contentsOf: self.url)).map { [UInt8]($0) } }

        func save(_ bytes: [UInt8]?) throws {
            guard let bytes else { return try FileManager.default.removeItem(at: self.url) }
            try Data(bytes).write(to: self.url)
        }
    }

    /// What is read of it here, by itself.
    private struct KeptKey: Decodable {
        let keyID: String
        let isRegistered: Bool
        let registeredAt: Int64
    }

    /// A device that has the key of the earlier client, and makes no other one.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class SameDevice: AppAttestService, @unchecked Sendable {
        private let lock = NSLock()
        private var used: [String] = []

        /// The keys that signed.
        var signers: [String] { self.lock.withLock { self.used } }
        var isSupported: Bool { true }

        func generateKey() async throws -> String { throw AppAttestError(.failed) }

        func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
            throw AppAttestError(.invalidKey)
        }

        func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
            self.lock.withLock { self.used.append(keyID) }
            return [0xa0]
        }
    }

    /// Gives challenges, and takes keys.
    private struct Challenges: ReportSender {
        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            let challenge = Base64.encode([UInt8](repeating: 7, count: 32))
            return FetchResponse(status: 201, body: Array("{\"challenge\":\"\(challenge)\"}".utf8))
        }
    }

    /// A start of the app.
    private static func launch(
        _ folder: URL, at time: Timestamp, _ device: any AppAttestService, _ collector: SimulatedCollector
    ) throws -> Pinning {
        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
        let clock = ManualClock(time)
        var configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: collector, clock: clock, randomness: FixedRandomness(fraction: 0))
        configuration.attestation = AppAttestClient(
            name: "com.example.app", origin: Self.origin, service: device,
            keys: KeyFile(url: folder.appendingPathComponent(Self.keyFile)), transport: Challenges(), clock: clock,
            randomness: FixedRandomness(fraction: 0))
        return try Pinning(
            root: .bytes(try bytes("tumbler-root.json")), list: .bytes(try bytes("tumbler-pins.json")),
            refreshFrom: nil, state: .folder(folder.appendingPathComponent("state").path), configuration: configuration)
    }

    /// Runs something with a folder that has a copy of another one; empty without one.
    private static func withCopy(of kept: URL?, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if let kept {
            try FileManager.default.copyItem(at: kept, to: folder)
        } else {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try await body(folder)
    }

    private static func running(_ pinning: Pinning, _ body: () async -> Void) async {
        let run = Task { await pinning.run() }
        await body()
        run.cancel()
        await run.value
    }

    @Test(
        "a report that waited since that day is signed by the key of that day, and no other key is made",
        arguments: Self.released)
    func reportThatWaitedSinceThatDayIsSignedByTheKeyOfThatDayAndNoOtherKeyIsMade(version: String) async throws {
        try await Self.withCopy(of: Self.kept(version), Self.expectGoesOn)
    }

    private static func expectGoesOn(_ folder: URL) async throws {
        let file = try Data(contentsOf: folder.appendingPathComponent(Self.keyFile))
        let kept = try JSONDecoder().decode(KeptKey.self, from: file)
        #expect(kept.isRegistered && kept.registeredAt == Self.start.secondsSince1970)
        #expect(Base64.decode(kept.keyID.utf8)?.count == 32)
        let (device, collector) = (SameDevice(), SimulatedCollector())
        let pinning = try Self.launch(folder, at: Self.start.advanced(by: 7_200), device, collector)
        await Self.running(pinning) { await collector.untilArrived(count: 1) }
        let arrival = try #require(collector.arrivals.first)
        #expect(arrival.address == Self.reports)
        #expect(try Self.text(arrival.body, "hostname") == Self.host)
        let field = try #require(arrival.fields["Tumbler-Assertion"].flatMap { Base64.decode($0.utf8) })
        #expect(try Self.text(field, "keyId") == kept.keyID)
        #expect(device.signers == [kept.keyID])
        #expect(try Data(contentsOf: folder.appendingPathComponent(Self.keyFile)) == file)
    }

    /// A member of an object that is a text.
    private static func text(_ bytes: [UInt8], _ name: String) throws -> String? {
        guard case .object(let members) = try JSONValue(strict: bytes),
            case .string(let text)? = members.first(where: { $0.name == name })?.value
        else { return nil }
        return text
    }

    @Test("what the client of today keeps that signs its reports is the same files as the newest of them")
    func whatTheClientOfTodayKeepsThatSignsItsReportsIsTheSameFilesAsTheNewestOfThem() async throws {
        try await Self.withCopy(of: nil) { folder in
            try await Self.make(in: folder)
            // Made by scripts/release-fixtures it is the newest one, and there is none to compare it with.
            if let target = ProcessInfo.processInfo.environment["TUMBLER_FIXTURE"] {
                try FileManager.default.copyItem(at: folder, to: URL(fileURLWithPath: target))
            } else {
                let newest = Self.kept(try #require(Self.released.last))
                let files = try [folder, newest].map {
                    try FileManager.default.subpathsOfDirectory(atPath: $0.path).sorted()
                }
                #expect(files[0] == files[1])
            }
            try await Self.expectGoesOn(folder)
        }
    }

    /// A client that met an interceptor, attested its key, signed the report, and was told to come back later.
    private static func make(in folder: URL) async throws {
        let pin = KnownPin(Pin(kind: .publicKey, hashing: [1]))
        var repository = try RepositorySimulator(
            at: Self.start, domains: [PinList.Domain(PinnedDomain(try HostName(Self.host), pins: [pin]))])
        let list = try repository.publishList { $0.reportTo = [Self.reports] }
        try Data(repository.roots[0]).write(to: folder.appendingPathComponent("tumbler-root.json"))
        try Data(list).write(to: folder.appendingPathComponent("tumbler-pins.json"))
        let device = SimulatedAppAttestDevice(
            under: try SimulatedAttestationAuthority(at: Self.start), appID: "ABCDE12345.com.example.app")
        let collector = SimulatedCollector()
        collector.answer = FetchResponse(status: 503)
        let pinning = try Self.launch(folder, at: Self.start, device, collector)
        await Self.running(pinning) {
            let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
            #expect(pinning.decision(for: path, host: Self.host).verdict == .block)
            await collector.untilArrived(count: 1)
        }
        #expect(collector.arrivals.first?.fields["Tumbler-Assertion"] != nil)
        #expect(device.attestations == 1)
    }
}
