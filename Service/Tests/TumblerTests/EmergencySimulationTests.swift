// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListSimulation
import PinRotation
import Testing

@testable import tumbler

@Suite("Whom an emergency locks out, simulated")
struct EmergencySimulationTests {
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)
    private static let day: Int64 = 86_400
    private static let (old, new) = (Pin(kind: .publicKey, hashing: [1]), Pin(kind: .publicKey, hashing: [2]))

    /// A list of so many days ago.
    private static func list(_ version: Int64, days: Int64, _ pins: [Pin]) throws -> PinList {
        let issuedAt = Timestamp(secondsSince1970: Self.now.secondsSince1970 - days * Self.day)
        let entry = PinnedDomain(try HostName("api.example.com"), pins: pins.map { KnownPin($0) })
        return PinList(
            name: "com.example.app", version: version, issuedAt: issuedAt,
            expiresAt: Timestamp(secondsSince1970: Self.now.secondsSince1970 + 60 * Self.day),
            domains: [PinList.Domain(entry)])
    }

    private static func simulation(
        _ held: [PinList], _ curve: AdoptionForecast = .usual
    ) throws -> EmergencySimulation {
        let host = try HostName("api.example.com")
        let plan = RotationPlan(
            list: "com.example.app", host: host, entries: [host], new: PlannedKey(Self.new),
            old: [PlannedKey(Self.old)], timeline: RotationTimeline(from: Self.now), at: Self.now)
        return try EmergencySimulation(
            plan, held: held, refreshAfter: 43_200, curve, suspendedFor: 43_200, at: Self.now)
    }

    @Test("installations come to the list as the closed form says, where all refuse the key at first")
    func installationsComeToTheListAsTheClosedFormSaysWhereAllRefuseTheKeyAtFirst() throws {
        let simulation = try Self.simulation([try Self.list(1, days: 20, [Self.old])])
        #expect(simulation.lists == 1)
        for days: Int64 in [7, 14, 30] {
            let (simulated, expected) = (
                simulation.refusing(after: days * Self.day), AdoptionForecast.usual.notReached(after: days * Self.day)
            )
            #expect(abs(simulated - expected) < 0.05, "\(days): \(simulated), and not \(expected)")
        }
        #expect(simulation.refusing(after: 3_600) > 0.9)
        let (first, month) = (simulation.refused(within: 3_600), simulation.refused(within: 30 * Self.day))
        #expect(month > 0 && month < first && first <= 1, "\(first) \(month)")
    }

    @Test("an installation with the new pin already is not locked out")
    func installationWithTheNewPinAlreadyIsNotLockedOut() throws {
        let older = try Self.list(1, days: 60, [Self.old])
        let newer = try Self.list(2, days: 30, [Self.old, Self.new])
        let alone = try Self.simulation([older]).refusing(after: 3_600)
        let both = try Self.simulation([newer, older, older])
        #expect(both.lists == 2)
        #expect(alone > 0.9)
        // Those that were not opened for 30 days.
        #expect(abs(both.refusing(after: 3_600) - AdoptionForecast.usual.notReached(after: 30 * Self.day)) < 0.05)
    }

    @Test("without any list that is known all refuse it, and an old one does not make it long")
    func withoutAnyListThatIsKnownAllRefuseItAndAnOldOneDoesNotMakeItLong() throws {
        #expect(try Self.simulation([]).refusing(after: 3_600) > 0.9)
        #expect(try Self.simulation([try Self.list(1, days: 9_999, [Self.old])]).refusing(after: 3_600) > 0.9)
        let future = try Self.simulation([try Self.list(1, days: -9, [Self.old])])
        #expect(future.refusing(after: 3_600) > 0.9)
    }

    @Test("an installation base that the simulator does not take is an error, and no answer")
    func installationBaseThatTheSimulatorDoesNotTakeIsAnErrorAndNoAnswer() throws {
        let curve = try #require(AdoptionForecast(shape: 0.005, scale: 86_400))
        #expect(throws: SimulationError.self) { try Self.simulation([], curve) }
    }
}
