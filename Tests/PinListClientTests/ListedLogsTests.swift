// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import TestData
import Testing

@testable import PinListClient

@Suite("The log list that a list names")
struct ListedLogsTests {
    @Test(
        "that cannot be had refuses nothing: the list is in force, it is asked for at each refresh, and then enforced")
    func thatCannotBeHadRefusesNothingTheListIsInForceItIsAskedForAtEachRefreshAndThenEnforced() async throws {
        let scene = try LoggingScene()
        let file = scene.file()
        try scene.publish(file, isServed: false)
        let pinning = try scene.client.launch()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && outcome.logsFailure?.code == .status && pinning.version == 2)
        #expect(pinning.decide(scene.unlogged).reason == .pinMatch)
        #expect(await pinning.count(of: .logsMissing) == 1)
        _ = await pinning.refresh()
        #expect(scene.client.server.paths.count { $0.hasPrefix("/logs/") } == 2)
        let epoch = pinning.policyInForce.epoch
        scene.serve(file)
        #expect(await pinning.refresh().logsFailure == nil)
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
        // Open connections are evaluated again.
        #expect(pinning.policyInForce.epoch > epoch)
    }

    @Test("that is another file than the one named is not taken, however it differs")
    func thatIsAnotherFileThanTheOneNamedIsNotTakenHoweverItDiffers() async throws {
        let scene = try LoggingScene()
        let file = scene.file()
        let other = Array(String(decoding: file, as: UTF8.self).replacing("\"A\"", with: "\"C\"").utf8)
        try #require(other.count == file.count)
        for answer in [other, [], Array(file.dropLast()), file + [0x20], [UInt8](repeating: 0x20, count: 5_000_000)] {
            let store = MemoryStore()
            var scene = scene
            scene.client = try TestClient(store: store)
            try scene.publish(file)
            let digest = Envelope.digest(of: file)
            scene.client.server.publish { $0.tampering[.logs(digest: digest)] = { _ in answer } }
            let pinning = try scene.client.launch()
            let outcome = await pinning.refresh()
            #expect(outcome.isSuccess && outcome.logsFailure != nil && store.logDigests().isEmpty)
            #expect(pinning.decide(scene.unlogged).reason == .pinMatch)
            #expect(await pinning.count(of: .logsUnreadable) == 1)
        }
    }

    @Test(
        "whose digest is right and whose content is no log list leaves the one before in force, and is not asked for again"
    )
    func whoseDigestIsRightAndWhoseContentIsNoLogListLeavesTheOneBeforeInForceAndIsNotAskedForAgain() async throws {
        let scene = try LoggingScene()
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        try scene.publish(Array("not JSON".utf8))
        for _ in 0..<2 { #expect(await pinning.refresh().isSuccess) }
        #expect(pinning.version == 3 && pinning.decide(scene.unlogged).reason == .transparency)
        #expect(await pinning.count(of: .logsUnreadable) == 1)
        #expect(scene.client.server.paths.count { $0.hasPrefix("/logs/") } == 2)
    }

    @Test("that is newer and not there yet leaves the one before in force; when it comes the older file goes")
    func thatIsNewerAndNotThereYetLeavesTheOneBeforeInForceWhenItComesTheOlderFileGoes() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        let (older, newer) = (scene.file(), scene.file(at: "2026-11-21T00:00:00Z", state: "rejected"))
        try scene.publish(older)
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        #expect(store.logDigests() == [Envelope.digest(of: older)])
        try scene.publish(newer, isServed: false)
        _ = await pinning.refresh()
        #expect(pinning.version == 3 && pinning.decide(scene.logged).transparency?.isSatisfied == true)
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
        scene.serve(newer)
        _ = await pinning.refresh()
        #expect(pinning.decide(scene.logged).reason == .transparency)
        #expect(store.logDigests() == [Envelope.digest(of: newer)])
    }

    @Test("enforces nothing once it is over 70 days old, which is said once, and again when a newer one comes")
    func enforcesNothingOnceItIsOver70DaysOldWhichIsSaidOnceAndAgainWhenANewerOneComes() async throws {
        let scene = try LoggingScene()
        try scene.publish(scene.file(at: "2026-09-12T00:00:00Z"))
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        // To the second: 70 days are not over 70 days.
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
        scene.client.clock.advance(by: 1)
        for _ in 0..<3 {
            let decision = pinning.decide(scene.unlogged)
            #expect(decision.verdict == .allow && decision.reason == .pinMatch && decision.transparency == nil)
        }
        #expect(await pinning.count(of: .logsStale) == 1)
        try scene.publish(scene.file())
        _ = await pinning.refresh()
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
    }

    @Test("is said to be over 70 days old when it is, also where a clock that was ahead had it said before")
    func isSaidToBeOver70DaysOldWhenItIsAlsoWhereAClockThatWasAheadHadItSaidBefore() async throws {
        let scene = try LoggingScene()
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        let days: Int64 = 71 * 86_400
        for (seconds, reason, count) in [
            (days, PinningDecision.Reason.pinMatch, 1), (-days, .transparency, 1), (days, .pinMatch, 2),
        ] {
            scene.client.clock.advance(by: seconds)
            #expect(pinning.decide(scene.unlogged).reason == reason)
            #expect(await pinning.count(of: .logsStale) == count)
        }
    }

    @Test("is kept over a restart without a network, and one that was tampered with on the disk is not believed")
    func isKeptOverARestartWithoutANetworkAndOneThatWasTamperedWithOnTheDiskIsNotBelieved() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        let file = scene.file()
        try scene.publish(file)
        _ = await (try scene.client.launch()).refresh()
        let restarted = try scene.client.launch(refreshing: false)
        #expect(restarted.version == 2 && restarted.decide(scene.unlogged).reason == .transparency)
        let digest = Envelope.digest(of: file)
        store.write(
            SigningLog.list(of: [SigningLog("M"), SigningLog("N")], at: "2026-11-20T00:00:00Z"), to: .logs(digest))
        let tampered = try scene.client.launch()
        #expect(tampered.decide(scene.logged).reason == .pinMatch)
        #expect(await tampered.count(of: .logsMissing) == 1)
        _ = await tampered.refresh()
        #expect(tampered.decide(scene.logged).transparency?.isSatisfied == true)
        #expect(store.read(.logs(digest), maximumBytes: file.count) == .bytes(file))
    }

    @Test("comes with the app, and then needs no network; one that is none is a mistake of the build")
    func comesWithTheAppAndThenNeedsNoNetworkOneThatIsNoneIsAMistakeOfTheBuild() async throws {
        let scene = try LoggingScene()
        let file = scene.file()
        try scene.publish(file, isServed: false)
        let list = try #require(scene.client.server.repository.lists.last)
        func launch(_ logs: [UInt8]?) throws -> Pinning {
            try Pinning(
                root: .bytes(scene.client.root), list: .bytes(list), logs: logs.map { .bytes($0) }, refreshFrom: nil,
                state: .memory, configuration: scene.client.configuration)
        }
        #expect(try launch(file).decide(scene.unlogged).reason == .transparency)
        let without = try launch(nil)
        #expect(without.decide(scene.unlogged).reason == .pinMatch)
        #expect(await without.count(of: .logsMissing) == 1)
        #expect(throws: PinningSetupError.self) { try launch(Array("{}".utf8)) }
        #expect(throws: PinningSetupError.self) { try launch([]) }
    }

    @Test("that cannot be stored is used in this process all the same")
    func thatCannotBeStoredIsUsedInThisProcessAllTheSame() async throws {
        let scene = try LoggingScene(FaultyStore(faults: [.writing]))
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        let outcome = await pinning.refresh()
        #expect(outcome.storeFailure != nil && pinning.decide(scene.unlogged).reason == .transparency)
    }

    @Test("goes with the list: a list that names none has none, and says so where an entry asks for one")
    func goesWithTheListAListThatNamesNoneHasNoneAndSaysSoWhereAnEntryAsksForOne() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        try scene.publish(nil)
        _ = await pinning.refresh()
        #expect(pinning.version == 3 && pinning.decide(scene.unlogged).reason == .pinMatch)
        #expect(await pinning.count(of: .logsMissing) == 1)
        #expect(store.logDigests().isEmpty)
    }
}
