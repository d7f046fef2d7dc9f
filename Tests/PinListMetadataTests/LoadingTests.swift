// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("Loading evaluates signatures, names and versions, and no time")
struct LoadingTests {
    @Test("a stored list that has expired or is from the future, under roots that have expired, is loaded")
    func storedListThatHasExpiredOrIsFromTheFutureUnderRootsThatHaveExpiredIsLoaded() throws {
        var repository = try Story.repository()
        try repository.publishRoot {
            $0.issuedAt = Story.after(days: 20_000)
            $0.expiresAt = Story.after(days: 20_001)
        }
        let past = try repository.publishList { $0.expiresAt = Story.start.advanced(by: 1) }
        let future = try repository.publishList {
            $0.issuedAt = Story.after(days: 20_000)
            $0.expiresAt = Story.after(days: 20_001)
        }
        for list in [past, future] {
            var client = try repository.client()
            try client.load(root: repository.roots[1])
            try client.load(list: list)
            #expect(client.inForce?.source == .outside)
        }
    }

    @Test("a stored list of an older signer is loaded and stays in force; from outside it is not taken")
    func storedListOfAnOlderSignerIsLoadedAndStaysInForceFromOutsideItIsNotTaken() throws {
        var repository = try Story.repository()
        let list = try repository.publishList()
        repository.time = Story.after(hours: 1)
        repository.pinsKeys = [repository.newKey()]
        let root = try repository.publishRoot()
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: nil)
        #expect(client.inForce == nil)
        try client.load(root: root)
        try client.load(list: list)
        #expect(client.inForce?.held.status == .superseded)
        #expect(try code { try client.accept(list: list, at: repository.time) } == .unsigned)
    }

    @Test("a stored file that does not verify changes nothing", arguments: ["cut", "emptied", "flipped", "another's"])
    func storedFileThatDoesNotVerifyChangesNothing(how: String) throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try client.load(list: try repository.publishList())
        let third = try repository.publishList()
        let damaged: [UInt8] =
            switch how {
            case "cut": Array(third.prefix(third.count / 2))
            case "emptied": []
            case "flipped": third.enumerated().map { $0.offset == 120 ? $0.element ^ 1 : $0.element }
            default: try Story.repository(seed: 2).lists[0]
            }
        let refused = try code { try client.load(list: damaged) }
        #expect([.malformed, .unsigned].contains(refused))
        #expect(client.inForce?.held.list.version == 2)
        #expect(try code { try client.load(root: damaged) } != nil)
        #expect(client.chain.newest.version == 1)
    }

    @Test("without a shipped list a first refresh begins from nothing")
    func withoutAShippedListAFirstRefreshBeginsFromNothing() throws {
        var repository = try Story.repository()
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: nil)
        #expect(client.inForce == nil)
        #expect(client.currentMark == nil)
        #expect(!client.isStale(Story.start))
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
    }

    @Test("a refused list changes nothing at all of what is trusted")
    func refusedListChangesNothingAtAllOfWhatIsTrusted() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let second = try repository.publishList()
        let third = try repository.publishList()
        try _ = client.accept(list: third, at: Story.start)
        let before = "\(client)"
        #expect(try code { try client.accept(list: second, at: Story.start) } != nil)
        #expect(try code { try client.accept(root: second, at: Story.start) } != nil)
        #expect("\(client)" == before)
    }
}
