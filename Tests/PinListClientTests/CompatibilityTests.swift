// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("What the protocols ask for")
struct CompatibilityTests {
    @Test("stores in memory and in a folder")
    func storesInMemoryAndInAFolder() throws {
        let memory = MemoryStore()
        try ProtocolCompatibility.check { memory }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try ProtocolCompatibility.check { StateFolder(path: path) }
    }

    @Test("a store that forgets, or holds too much, is found")
    func storeThatForgetsOrHoldsTooMuchIsFound() throws {
        #expect(throws: IncompatibilityError.self) { try ProtocolCompatibility.check { MemoryStore() } }
        #expect(throws: StateStoreError.self) { try ProtocolCompatibility.check { FaultyStore(faults: [.writing]) } }
        #expect(throws: (any Error).self) { try ProtocolCompatibility.check { FaultyStore(faults: [.locking]) } }
    }

    @Test("the system's clock and randomness; a chosen number is found to be none")
    func systemsClockAndRandomnessAChosenNumberIsFoundToBeNone() async throws {
        try await ProtocolCompatibility.check(SystemClock())
        try ProtocolCompatibility.check(SystemRandomness())
        #expect(throws: IncompatibilityError.self) { try ProtocolCompatibility.check(FixedRandomness(fraction: 0.5)) }
    }

    @Test("an app's own test of what it embeds: good for a month, not for a year, and never with a foreign root")
    func appsOwnTestOfWhatItEmbedsGoodForAMonthNotForAYearAndNeverWithAForeignRoot() throws {
        let client = try TestClient()
        let list = EmbeddedFile.bytes(client.list)
        try expectEmbeddedListVerifies(root: .bytes(client.root), list: list, at: TestClient.start)
        #expect(throws: IncompatibilityError.self) {
            try expectEmbeddedListVerifies(
                root: .bytes(client.root), list: list, at: TestClient.start, validForDays: 365)
        }
        let other = try RepositorySimulator(at: TestClient.start, seed: 5)
        #expect(throws: PinningSetupError.self) {
            try expectEmbeddedListVerifies(root: .bytes(other.roots[0]), list: list, at: TestClient.start)
        }
    }
}
