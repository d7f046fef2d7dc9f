// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("A refresh against the simulator")
struct RepositorySimulatorTests {
    /// What a client does, without its store and its events: roots as long as there are, then the list.
    private func refresh(
        _ client: inout TrustState, from repository: RepositorySimulator, at clock: Timestamp
    ) throws -> TrustState.Acceptance? {
        for _ in 0..<MetadataLimits.rotationsPerRefresh {
            let next = client.chain.newest.version + 1
            guard let root = repository.answer(to: .root(version: next)) else { break }
            try client.accept(root: root, at: clock)
        }
        guard let list = repository.answer(to: .pins) else { return nil }
        return try client.accept(list: list, at: clock)
    }

    @Test("two rotations and three lists later, in one go; and then there is nothing new")
    func twoRotationsAndThreeListsLaterInOneGoAndThenThereIsNothingNew() throws {
        var repository = try Story.repository(rootKeys: (3, 2), pinsKeys: (2, 2))
        var client = try repository.client()
        let clock = ManualClock(Story.start)
        for _ in 0..<2 {
            clock.advance(by: Story.day)
            repository.time = clock.now
            repository.rootKeys[0] = repository.newKey(.ed25519)
            repository.pinsKeys[1] = repository.newKey()
            try repository.publishRoot()
            try repository.publishList()
        }
        try repository.publishList { $0.unlisted = .report }
        #expect(try self.refresh(&client, from: repository, at: clock.now) == .newer)
        #expect(client.chain.newest.version == 3)
        #expect(client.inForce?.held.list.unlisted == .report)
        #expect(try self.refresh(&client, from: repository, at: clock.now) == .unchanged)
    }

    @Test("a host that answers the question for the next root with a page: refused, and the list is not looked at")
    func hostThatAnswersTheQuestionForTheNextRootWithAPageRefused() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let before = client.inForce?.held.bytes
        try repository.publishList()
        repository.tampering[.root(version: 2)] = { _ in Array("<!DOCTYPE html><title>404</title>".utf8) }
        #expect(try code { try self.refresh(&client, from: repository, at: Story.start) } == .malformed)
        #expect(client.inForce?.held.bytes == before)
        repository.tampering = [:]
        #expect(try self.refresh(&client, from: repository, at: Story.start) == .newer)
    }

    @Test("an attacker withholds, keeps back, or exchanges what is served")
    func attackerWithholdsKeepsBackOrExchangesWhatIsServed() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try repository.publishList()
        #expect(try self.refresh(&client, from: repository, at: Story.start) == .newer)
        let old = repository.lists[0]
        repository.tampering[.pins] = { _ in old }
        #expect(try code { try self.refresh(&client, from: repository, at: Story.start) } == .rollback)
        repository.tampering[.pins] = { honest in
            // The first letters of `{"type"` in base64, and something that is no less base64.
            honest.map {
                Array(String(decoding: $0, as: UTF8.self).replacingOccurrences(of: ":\"eyJ", with: ":\"eyK").utf8)
            }
        }
        #expect(try code { try self.refresh(&client, from: repository, at: Story.start) } == .unsigned)
        repository.tampering[.pins] = { _ in nil }
        #expect(try self.refresh(&client, from: repository, at: Story.start) == nil)
        #expect(client.inForce?.held.list.version == 2)
    }

    @Test("there is no root before the first and none after the last")
    func thereIsNoRootBeforeTheFirstAndNoneAfterTheLast() throws {
        let repository = try Story.repository()
        #expect(repository.answer(to: .root(version: 1)) == repository.roots[0])
        for version in [Int64.min, -1, 0, 2, .max] { #expect(repository.answer(to: .root(version: version)) == nil) }
    }

    @Test("one seed, the same keys; another, others")
    func oneSeedTheSameKeysAnotherOthers() throws {
        let keyIDs = try [1, 1, 2].map { try Story.repository(rootKeys: (3, 1), seed: $0).rootKeys.map(\.keyID) }
        #expect(keyIDs[0] == keyIDs[1])
        #expect(Set(keyIDs[0] + keyIDs[2]).count == 6)
    }

    @Test("a clock is turned in both directions, and stops at the ends of time")
    func clockIsTurnedInBothDirectionsAndStopsAtTheEndsOfTime() {
        let clock = ManualClock(Story.start)
        clock.advance(by: -Story.day)
        #expect(clock.now == Story.after(days: -1))
        clock.now = Timestamp(secondsSince1970: .max)
        clock.advance(by: 1)
        #expect(clock.now == Timestamp(secondsSince1970: .max))
        clock.now = Timestamp(secondsSince1970: .min)
        clock.advance(by: -1)
        #expect(clock.now == Timestamp(secondsSince1970: .min))
    }
}
