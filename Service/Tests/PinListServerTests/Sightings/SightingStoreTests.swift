// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import Crypto
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Certificates of logs, as they are kept", .runsPostgreSQL)
struct SightingStoreTests {
    private static let end = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 90 * 86_400)

    private static func entry(_ pins: [Pin]) throws -> PinList.Domain {
        PinList.Domain(PinnedDomain(try HostName("api.example.com"), pins: pins.map { KnownPin($0) }))
    }

    @Test("of an issuer that two authorities signed the pinned one counts, whichever chain a log had first")
    func ofAnIssuerThatTwoAuthoritiesSignedThePinnedOneCounts() async throws {
        let (logged, key) = (LoggedCertificates(), P256.Signing.PrivateKey())
        let bytes = try logged.certificate(for: ["api.example.com"], key: key)
        let pins = (UInt8(1)...3).map { Pin(kind: .publicKey, hashing: [$0]) }
        let list = PinList(
            name: "a", version: 1, issuedAt: TurnedClock.start, expiresAt: TurnedClock.start,
            domains: [try Self.entry([pins[2]])])
        let certificate = try SightedCertificate(bytes)
        func states(_ chains: [[Pin]], later digest: String) async throws -> [SightingState] {
            var states: [SightingState] = []
            try await TestedStore.sqlite.withDatabase { open in
                states = try await open().write { store in
                    let rules = SightingRules(list)
                    for issuers in chains {
                        let told = StoredSighting(
                            certificate, issuers: issuers, log: "", loggedAt: nil, of: "a", by: "t",
                            at: TurnedClock.start)
                        _ = try store.add([(told, bytes)], of: "a", by: rules, of: "d", at: TurnedClock.start)
                    }
                    let before = try store.sightings(of: "a", limit: 9).map(\.state)
                    _ = try store.evaluateSightings(of: "a", by: rules, of: digest, at: TurnedClock.start, limit: 9)
                    return try before + store.sightings(of: "a", limit: 9).map(\.state)
                }
            }
            return states
        }
        let (other, pinned) = ([pins[0], pins[1]], [pins[0], pins[2]])
        #expect(try await states([other], later: "e") == [.unknown, .unknown])
        for chains in [[other, pinned], [pinned, other], [pinned, []]] {
            #expect(try await states(chains, later: "e") == [.issuer, .issuer])
        }
    }

    @Test(
        "of more than are an alarm each the one that a probe saw served is one, then those that no person has seen",
        arguments: TestedStore.all)
    func ofMoreThanAreAnAlarmEachTheOneThatAProbeSawServedIsOne(on tested: TestedStore) async throws {
        let (pins, rules) = try Self.pinsAndRules()
        try await tested.withDatabase { open in
            let found = try await open().write { store in
                for number in Int64(0)...Int64(SightingOverview.maximum) {
                    let told = Self.told(number, pins[number == 0 ? 1 : 2], by: "t")
                    _ = try store.add([(told, [])], of: "a", by: rules, of: "d", at: TurnedClock.start)
                }
                try store.noteServed(["a": [pins[1].description]], at: TurnedClock.start)
                for number in 100...Int64(SightingOverview.maximum) {
                    try store.acknowledgeSighting(
                        of: "a", identity: "\(number)",
                        .init(at: TurnedClock.start, by: "t", severity: Alarm.Severity.warning.rawValue))
                }
                return try store.unexpectedSightings(of: "a", at: TurnedClock.start, limit: SightingOverview.maximum)
            }
            #expect(found.count == SightingOverview.maximum)
            #expect(found.prefix(3).map(\.identity) == ["0", "99", "98"])
            #expect(found[100].identity == "\(Int64(SightingOverview.maximum))")
        }
    }

    @Test(
        "of more than are an alarm each the tokens have their turns: a leaked one hides nothing that the monitor told",
        arguments: TestedStore.all)
    func ofMoreThanAreAnAlarmEachTheTokensHaveTheirTurns(on tested: TestedStore) async throws {
        let (pins, rules) = try Self.pinsAndRules()
        try await tested.withDatabase { open in
            let found = try await open().write { store in
                for number in 0...(Int64(SightingOverview.maximum) + 2) {
                    let told = number < 2 ? Self.told(number, pins[1], by: "m") : Self.told(number, pins[2], by: "t")
                    _ = try store.add([(told, [])], of: "a", by: rules, of: "d", at: TurnedClock.start)
                }
                return try store.unexpectedSightings(of: "a", at: TurnedClock.start, limit: SightingOverview.maximum)
            }
            #expect(found.count == SightingOverview.maximum)
            #expect(found.prefix(6).map(\.identity) == ["202", "1", "201", "0", "200", "199"])
        }
    }

    /// Three pins, and the rules of a list that has the first.
    private static func pinsAndRules() throws -> ([Pin], SightingRules) {
        let pins = (UInt8(1)...3).map { Pin(kind: .publicKey, hashing: [$0]) }
        let list = PinList(
            name: "a", version: 1, issuedAt: TurnedClock.start, expiresAt: TurnedClock.start,
            domains: [try Self.entry([pins[0]])])
        return (pins, SightingRules(list))
    }

    /// A certificate with a key, which a token told so many seconds after the begin.
    private static func told(_ number: Int64, _ key: Pin, by token: String) -> StoredSighting {
        StoredSighting(
            name: "a", identity: "\(number)", evaluated: .unknown, host: "", isEnforced: false, list: "",
            key: key.description, servedAt: nil, notBefore: TurnedClock.start, notAfter: Self.end,
            isPrecertificate: false, log: "", loggedAt: nil,
            firstAt: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + number), toldBy: token,
            acknowledgement: nil, serialNumber: "", issuer: "", issuers: [], names: ["api.example.com"])
    }
}
