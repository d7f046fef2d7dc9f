// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import NIOHTTP1
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// The way from an app to a service, on which an interceptor may block paths and records what goes by.
private final class Way: ReportSender {
    /// The address of the service, as the app knows it.
    static let origin = "https://pins.example.com"

    struct Request: Sendable {
        let path: String
        let body: [UInt8]
        let fields: [String: String]
        let status: Int?
    }

    private struct State {
        var service: RunningService
        var blocked: Set<String> = []
        var requests: [Request] = []
        var isAwaited: (path: String, count: Int, wake: CheckedContinuation<Void, Never>)?

        var isReached: Bool {
            guard let awaited = self.isAwaited else { return false }
            return self.requests.count { $0.path == awaited.path } >= awaited.count
        }
    }

    private let state: NIOLockedValueBox<State>

    init(to service: RunningService) { self.state = NIOLockedValueBox(State(service: service)) }

    /// What went by, the first first.
    var requests: [Request] { self.state.withLockedValue { $0.requests } }

    /// Blocks paths, and these alone.
    func block(_ paths: String...) { self.state.withLockedValue { $0.blocked = Set(paths) } }

    /// Leads to another instance.
    func turn(to service: RunningService) { self.state.withLockedValue { $0.service = service } }

    /// Waits until so many requests for a path went by.
    func untilPassed(_ path: String, count: Int) async {
        await withCheckedContinuation { wake in
            let isReached = self.state.withLockedValue { state in
                state.isAwaited = (path, count, wake)
                guard state.isReached else { return false }
                state.isAwaited = nil
                return true
            }
            if isReached { wake.resume() }
        }
    }

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        try await self.send(body, to: address, fields: [:])
    }

    func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse {
        guard address.hasPrefix(Self.origin) else { throw FetchError(.network, "no such host") }
        let path = String(address.dropFirst(Self.origin.count))
        let (service, isBlocked) = self.state.withLockedValue { ($0.service, $0.blocked.contains(path)) }
        var answer: RunningService.Answer?
        defer { self.note(Request(path: path, body: body, fields: fields, status: answer?.status)) }
        guard !isBlocked else { throw FetchError(.network, "blocked") }
        let headers = HTTPHeaders(fields.map { ($0.key, $0.value) } + [("X-Forwarded-For", "192.0.2.1")])
        let got = try await service.ask(.POST, path, headers, body)
        answer = got
        let own = got.headers.filter { $0.name.lowercased().hasPrefix("tumbler-") }
        return FetchResponse(
            status: got.status, body: got.body,
            fields: Dictionary(own.map { ($0.name.lowercased(), $0.value) }) { first, _ in first })
    }

    private func note(_ request: Request) {
        let wake = self.state.withLockedValue { state in
            state.requests.append(request)
            guard state.isReached else { return CheckedContinuation<Void, Never>?.none }
            defer { state.isAwaited = nil }
            return state.isAwaited?.wake
        }
        wake?.resume()
    }
}

/// What the Keychain holds.
private final class KeptKey: AttestationKeyStore {
    private let bytes = NIOLockedValueBox<[UInt8]?>(nil)
    func load() throws -> [UInt8]? { self.bytes.withLockedValue { $0 } }
    func save(_ bytes: [UInt8]?) throws { self.bytes.withLockedValue { $0 = bytes } }
}

/// An app with the real client, on a device of the test kit.
private struct InstalledApp {
    let way: Way
    let device: SimulatedAppAttestDevice
    let pinning: Pinning

    init(_ authority: SimulatedAttestationAuthority, _ way: Way, _ clock: ManualClock) throws {
        self.way = way
        self.device = SimulatedAppAttestDevice(under: authority, appID: AttestedInstallation.appID)
        var repository = try RepositorySimulator.story([try .pinned("example.com")])
        _ = try repository.publishList { $0.reportTo = [Way.origin + "/v1/reports"] }
        var configuration = PinningConfiguration(
            fetcher: SimulatedServer(repository), reportSender: way, clock: clock,
            randomness: FixedRandomness(fraction: 0))
        configuration.attestation = AppAttestClient(
            name: AttestedInstallation.name, origin: Way.origin, service: self.device, keys: KeptKey(),
            transport: way, clock: clock, randomness: FixedRandomness(fraction: 0))
        self.pinning = try Pinning(
            root: .bytes(repository.roots[0]), list: .bytes(repository.lists[1]), refreshFrom: nil,
            state: .store(MemoryStore()), configuration: configuration)
    }

    /// Runs the client beside `body`.
    func running(_ body: () async throws -> Void) async throws {
        let run = Task { await self.pinning.run() }
        defer { run.cancel() }
        try await body()
        run.cancel()
        await run.value
    }

    /// Meets an interceptor at a port, and waits until that was reported.
    func meetInterceptor(port: Int) async {
        let before = self.way.requests.count { $0.path == "/v1/reports" }
        let decision = self.pinning.decision(
            for: ValidatedPath(uncheckedValidatedPath: [[0x30]]), host: "example.com",
            connection: ConnectionFacts(port: port))
        #expect(decision.verdict == .block)
        await self.way.untilPassed("/v1/reports", count: before + 1)
    }
}

@Suite("The whole client against the whole service", .runsPostgreSQL)
struct WholeClientTests {
    private static let paths = (challenges: "/v1/attest/challenges", keys: "/v1/attest/keys", reports: "/v1/reports")
    private let authority: SimulatedAttestationAuthority

    init() throws { self.authority = try SimulatedAttestationAuthority(at: TurnedClock.start) }

    private static func reason(_ request: Way.Request?) -> String? {
        guard let request, case .object(let members)? = try? JSONValue(strict: request.body),
            case .object(let ours)? = members.first(where: { $0.name == "tumbler" })?.value,
            case .string(let reason)? = ours.first(where: { $0.name == "attestation" })?.value
        else { return nil }
        return reason
    }

    @Test("a key is registered with the first report, and what follows is signed with the challenge of the answer")
    func keyIsRegisteredWithTheFirstReport() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                let way = Way(to: service)
                let app = try InstalledApp(authority, way, ManualClock(TurnedClock.start))
                try await app.running { for port in [443, 8_443, 9_443] { await app.meetInterceptor(port: port) } }
                #expect(
                    way.requests.map(\.path) == [
                        Self.paths.challenges, Self.paths.keys, Self.paths.challenges, Self.paths.reports,
                        Self.paths.reports, Self.paths.reports,
                    ])
                #expect(way.requests.map(\.status) == [201, 201, 201, 202, 202, 202])
                #expect(try await AttestedService.states(store) == ["attested 0 3"])
                #expect(app.device.attestations == 1)
                // The key id stands in no report.
                let keyIDs = try await store.read { try $0.keyIDs() }
                let keyID = try #require(keyIDs.first)
                for request in way.requests where request.path == Self.paths.reports {
                    #expect(!String(decoding: request.body, as: UTF8.self).contains(Base64.encode(keyID)))
                }
            }
        }
    }

    @Test("who blocks the challenges, the keys, Apple or all of them silences no report")
    func whoBlocksTheChallengesTheKeysAppleOrAllOfThemSilencesNoReport() async throws {
        let authority = self.authority
        let blockades: [(paths: [String], apple: AppAttestError.Code?, reason: String)] = [
            ([Self.paths.challenges], nil, "service-unavailable"), ([Self.paths.keys], nil, "service-unavailable"),
            ([], .appleUnavailable, "apple-unavailable"),
            ([Self.paths.challenges, Self.paths.keys], .appleUnavailable, "service-unavailable"),
        ]
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                for (number, blockade) in blockades.enumerated() {
                    let way = Way(to: service)
                    let app = try InstalledApp(authority, way, ManualClock(TurnedClock.start))
                    if blockade.paths.count > 1 {
                        way.block(Self.paths.challenges, Self.paths.keys)
                    } else if let path = blockade.paths.first {
                        way.block(path)
                    }
                    app.device.failure = blockade.apple
                    try await app.running { await app.meetInterceptor(port: 443) }
                    #expect(way.requests.last?.status == 202)
                    #expect(Self.reason(way.requests.last) == blockade.reason)
                    #expect(try await AttestedService.states(store) == ["unattested 0 \(number + 1)"])
                }
                // No installation was attested yet: the reports count as before.
                let now = service.clock.now
                let rates = try await store.read {
                    try $0.attestationRates(of: [AttestedInstallation.name], at: now)
                }
                #expect(rates[AttestedInstallation.name]?.countsUnattested == true)
            }
        }
    }

    @Test("a client whose challenges are blocked later reports unsigned once: the answer has the next challenge")
    func clientWhoseChallengesAreBlockedReportsUnsignedOnce() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                let (way, clock) = (Way(to: service), ManualClock(TurnedClock.start))
                let app = try InstalledApp(authority, way, clock)
                try await app.running { await app.meetInterceptor(port: 443) }
                // The challenge of the answer is over after ten minutes.
                service.clock.turn(by: 900)
                clock.advance(by: 900)
                way.block(Self.paths.challenges)
                try await app.running { await app.meetInterceptor(port: 444) }
                #expect(Self.reason(way.requests.last) == "service-unavailable")
                // The answer to that report had a challenge.
                try await app.running { await app.meetInterceptor(port: 445) }
                #expect(try await AttestedService.states(store) == ["attested 0 2", "unattested 0 1"])
                #expect(app.device.attestations == 1)
            }
        }
    }

    @Test("what the client sent is refused at every instance when a thief sends it again", arguments: TestedStore.all)
    func whatTheClientSentIsRefusedAtEveryInstanceWhenAThiefSendsItAgain(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let (first, second) = (try open(), try open())
            try await AttestedService.with(first, authority) { one in
                try await AttestedService.with(second, authority, clock: one.clock) { two in
                    let way = Way(to: one)
                    let app = try InstalledApp(authority, way, ManualClock(TurnedClock.start))
                    try await app.running { await app.meetInterceptor(port: 443) }
                    // The key, and the challenge of the other's answer, hold at both.
                    way.turn(to: two)
                    try await app.running { await app.meetInterceptor(port: 444) }
                    #expect(try await AttestedService.states(first) == ["attested 0 2"])
                    let reports = way.requests.filter { $0.path == Self.paths.reports }
                    let registration = try #require(way.requests.first { $0.path == Self.paths.keys })
                    for service in [one, two] {
                        for report in reports {
                            let fields = HTTPHeaders(report.fields.map { ($0.key, $0.value) })
                            #expect(!fields["Tumbler-Assertion"].isEmpty)
                            #expect(try await service.report(report.body, fields).status == 202)
                        }
                        // The same key again is no new key, and its counter stays.
                        let again = try await service.ask(.POST, Self.paths.keys, [:], registration.body)
                        #expect(again.status == 200)
                    }
                    #expect(try await AttestedService.states(first) == ["attested 0 2", "unattested 5 4"])
                }
            }
        }
    }
}

extension StoreTransaction {
    /// The ids of the keys that are registered.
    fileprivate func keyIDs() throws -> [[UInt8]] {
        try self.connection.rows("SELECT key_id FROM attested_key", []).map { try $0.blob(0) }
    }
}
