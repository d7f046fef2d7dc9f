// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("Lists that installations may still hold")
struct HeldListTests {
    private static let day: Int64 = 86_400
    private static let now = SourceText.now

    /// A source with the pins that are named by letters.
    private static func text(_ letters: String, _ more: String = "") -> String {
        let pins = letters.map { "{pin: \"\(SourceText.pin($0))\"}" }.joined(separator: ", ")
        return SourceText.good(list: more).replacing(
            "{pin: \"\(SourceText.pin("a"))\"}, {pin: \"\(SourceText.pin("b"))\"}", with: pins)
    }

    /// A project in a folder: lists of pins with the days before now on which they went out; `nil` for one that is
    /// signed only. The last one is `pins.json`.
    private func withProject(
        _ lists: [(pins: String, daysAgo: Int64?)], _ body: (ProjectFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            var newest: PinList?
            for (pins, days) in lists {
                let issued = Self.now.later(-(days ?? 0) * Self.day)
                let list = try PinListBuilt.list(Self.text(pins), after: newest, at: issued)
                try ListHistory.keep(list.payload, in: project, publishedAt: days == nil ? nil : issued)
                try folder.write(Data(list.payload), as: "pins.json")
                newest = list
            }
            try await body(project)
        }
    }

    private func held(_ project: ProjectFolder, propagation: Int64 = 30 * day) throws -> HeldLists {
        try HeldLists(of: project, and: nil, propagation: propagation, at: Self.now, notMeasured: "there is no service")
    }

    /// The rules that the next list breaks.
    private func rules(_ pins: String, _ project: ProjectFolder, _ more: String = "") throws -> [String] {
        let source = try SourceText.read(Self.text(pins, more))
        let published = try #require(try project.newestList().map { try PinList(payload: $0) })
        var linter = Linter(try PinListBuilt.list(source, after: published), at: Self.now)
        linter.source = source
        linter.published = published
        linter.held = try HeldLists(
            of: project, and: nil, propagation: source.propagation, at: Self.now, notMeasured: "there is no service")
        return linter.findings.map(\.rule.id)
    }

    @Test("all that was the newest in the last propagation, and the one that was in force when that time began")
    func allThatWasTheNewestInTheLastPropagation() async throws {
        let lists: [(pins: String, daysAgo: Int64?)] = [
            ("ab", 100), ("abc", 60), ("abc", 31), ("abc", 30), ("abc", 10), ("bc", 0),
        ]
        try await self.withProject(lists) { (project) throws in
            for (seconds, versions) in [
                (30 * Self.day, [4, 5, 6]), (30 * Self.day + 1, [3, 4, 5, 6]), (Self.day, [5, 6]),
                (1_000 * Self.day, [1, 2, 3, 4, 5, 6]),
            ] as [(Int64, [Int64])] {
                let held = try self.held(project, propagation: seconds)
                #expect(held.versions == versions && held.missing.isEmpty)
            }
        }
    }

    @Test("a list each day: the pin that came 40 days ago is known to all, and its predecessor may go")
    func listEachDayThePinThatCame40DaysAgoIsKnownToAllAndItsPredecessorMayGo() async throws {
        var lists: [(pins: String, daysAgo: Int64?)] = [("ab", 60)]
        for days in (0...40).reversed() { lists.append(("abc", Int64(days))) }
        try await self.withProject(lists) { (project) throws in
            #expect(try self.rules("bc", project).isEmpty)
            #expect(try self.rules("c", project) == ["no-backup-pin"])
        }
    }

    @Test("a pin that came yesterday is not known to all, even with other pins beside it")
    func pinThatCameYesterdayIsNotKnownToAllEvenWithOtherPinsBesideIt() async throws {
        try await self.withProject([("ab", 60), ("abc", 1), ("abc", 0)]) { (project) throws in
            #expect(try self.rules("cd", project) == ["propagation"])
            // The backup has been out all the time.
            #expect(try self.rules("bc", project).isEmpty)
            #expect(try self.rules("abcd", project).isEmpty)
        }
    }

    @Test("the day before its time, and the day")
    func dayBeforeItsTimeAndTheDay() async throws {
        for (days, isTooEarly) in [(Int64(29), true), (30, false)] {
            try await self.withProject([("ab", 60), ("abc", days)]) { (project) throws in
                #expect(try self.rules("cd", project) == (isTooEarly ? ["propagation"] : []), "\(days)")
            }
        }
    }

    @Test("a pin that was taken out and came back counts from its return")
    func pinThatWasTakenOutAndCameBackCountsFromItsReturn() async throws {
        try await self.withProject([("abc", 90), ("ab", 20), ("abc", 10)]) { (project) throws in
            #expect(try self.rules("cd", project) == ["propagation"])
        }
    }

    @Test("a list that was signed and never went out takes no installation's list away")
    func listThatWasSignedAndNeverWentOutTakesNoInstallationsListAway() async throws {
        try await self.withProject([("ab", 60), ("abc", nil)]) { (project) throws in
            let held = try self.held(project, propagation: Self.day)
            #expect(held.versions == [1, 2])
            #expect(try self.rules("cd", project, "propagation: 30d") == ["propagation"])
        }
    }

    @Test("lists whose publication was not recorded went out when they were issued, and not before")
    func listsWhosePublicationWasNotRecordedWentOutWhenTheyWereIssuedAndNotBefore() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            let old = try PinListBuilt.list(Self.text("ab"), at: Self.now.later(-60 * Self.day))
            let new = try PinListBuilt.list(Self.text("abc"), after: old, at: Self.now.later(-10 * Self.day))
            for list in [old, new] { try ListHistory.keep(list.payload, in: project, publishedAt: nil) }
            try folder.write(Data(new.payload), as: "pins.json")
            #expect(try self.held(project).versions == [1, 2])
            #expect(try self.held(project, propagation: 9 * Self.day).versions == [2])
        }
    }

    @Test("a release from a machine whose clock is behind takes no list away from those who hold it")
    func releaseFromAMachineWhoseClockIsBehindTakesNoListAwayFromThoseWhoHoldIt() async throws {
        // The third one went out after the second, by a clock that was 40 days behind.
        try await self.withProject([("ab", 60), ("abc", 0), ("abc", 40)]) { (project) throws in
            #expect(try self.held(project).versions == [1, 2, 3])
            #expect(try self.rules("cd", project) == ["propagation"])
            // Since when it is out is not known, so that what went out before it is not either.
            try FileManager.default.removeItem(at: project.folder.appendingPathComponent("lists/2.json"))
            #expect(try self.held(project).missing == ["version 2"])
        }
        // The next one that is dated after all of them ends them.
        try await self.withProject([("ab", 100), ("abc", 50), ("abc", 90), ("abc", 40)]) { (project) throws in
            #expect(try self.held(project).versions == [4])
        }
    }

    @Test("a list that is missing in lists/ is said, and no pin goes on the strength of it")
    func listThatIsMissingInListsIsSaidAndNoPinGoesOnTheStrengthOfIt() async throws {
        try await self.withProject([("ab", 60), ("abc", 20), ("abc", 10), ("abc", 0)]) { (project) throws in
            try FileManager.default.removeItem(at: project.folder.appendingPathComponent("lists/3.json"))
            #expect(try self.held(project).missing == ["version 3"])
            #expect(try self.rules("bc", project) == ["propagation", "lists-missing"])
            #expect(try self.rules("abcd", project) == ["lists-missing"])
            // A version that was not recorded, and everything before the first that is known.
            let lists = project.folder.appendingPathComponent("lists")
            let lines = try lists.text(of: "published.jsonl").split(separator: "\n")
            try lists.write(
                lines.filter { !$0.contains("\"version\":3,") }.joined(separator: "\n"), as: "published.jsonl")
            #expect(try self.held(project).missing == ["version 3"])
            try lists.write(lines[3] + "\n", as: "published.jsonl")
            for name in ["1.json", "2.json"] {
                try FileManager.default.removeItem(at: lists.appendingPathComponent(name))
            }
            #expect(try self.held(project).missing == ["what went out before version 4"])
        }
    }

    @Test("less than 30 days without a measurement is a finding; with one it is none")
    func lessThan30DaysWithoutAMeasurementIsAFindingWithOneItIsNone() async throws {
        try await self.withProject([("ab", 60)]) { (project) throws in
            #expect(try self.rules("abc", project, "propagation: 29d") == ["propagation-short"])
            #expect(try self.rules("abc", project, "propagation: 30d").isEmpty)
            let source = try SourceText.read(Self.text("abc", "propagation: 1d"))
            var linter = Linter(try PinListBuilt.list(source, at: Self.now), at: Self.now)
            linter.source = source
            linter.held = try HeldLists(
                of: project, and: nil, measured: .init(period: 86_400, requests: 1_000, versions: [1: 1_000]))
            #expect(linter.findings.isEmpty)
        }
    }

    @Test("measured: a pin may go when at most one in a hundred holds a list without its successor")
    func measuredAPinMayGoWhenAtMostOneInAHundredHoldsAListWithoutItsSuccessor() async throws {
        try await self.withProject([("ab", 400), ("abc", 1)]) { (project) throws in
            func rules(_ versions: [Int64: Int64], requests: Int64 = 1_000) throws -> [String] {
                let source = try SourceText.read(Self.text("cd"))
                let published = try #require(try project.newestList().map { try PinList(payload: $0) })
                var linter = Linter(try PinListBuilt.list(source, after: published), at: Self.now)
                linter.source = source
                linter.published = published
                linter.held = try HeldLists(
                    of: project, and: nil, measured: .init(period: 86_400, requests: requests, versions: versions))
                return linter.findings.map(\.rule.id)
            }
            // One day after it went out, because nearly all have asked; time alone would not do.
            #expect(try rules([1: 10, 2: 990]).isEmpty)
            #expect(try rules([1: 11, 2: 989]) == ["propagation"])
            // A request that names an unknown list counts as without it, and so does a list that is not in lists/.
            #expect(try rules([2: 990]).isEmpty)
            #expect(try rules([2: 989]) == ["propagation"])
            #expect(try rules([2: 900, 7: 100]) == ["propagation"])
        }
    }

    @Test("measured: a version that another checkout published is not the list of that version that is kept here")
    func measuredAVersionThatAnotherCheckoutPublishedIsNotTheListThatIsKeptHere() async throws {
        try await self.withProject([("ab", 60), ("abc", nil)]) { (project) throws in
            let own = try #require(try project.newestList().map { try PinList(payload: $0) })
            let first = try PinListBuilt.list(Self.text("ab"))
            let theirs = try PinListBuilt.list(Self.text("abd"), after: first)
            func held(_ published: PinList?) throws -> HeldLists {
                try HeldLists(
                    of: project, and: published, measured: .init(period: 86_400, requests: 1_000, versions: [2: 1_000]))
            }
            #expect(try held(nil).unknownShare == 1)
            #expect(try held(own).lists.map(\.list.payload) == [own.payload])
            #expect(try held(theirs).lists.map(\.list.payload) == [theirs.payload])
            // Two lists of the version are out: which one a request means is not known.
            try ListHistory.keep(own.payload, in: project, publishedAt: Self.now)
            #expect(try held(nil).unknownShare == 0)
            #expect(try held(theirs).unknownShare == 1)
        }
    }

    @Test("by time: a version that another checkout published is not the list of that version that is kept here")
    func byTimeAVersionThatAnotherCheckoutPublishedIsNotTheListThatIsKeptHere() async throws {
        try await self.withProject([("ab", 60), ("abc", nil)]) { (project) throws in
            func missing(_ published: PinList) throws -> [String] {
                try HeldLists(
                    of: project, and: published, propagation: 30 * Self.day, at: Self.now, notMeasured: ""
                ).missing
            }
            // The service has their third list, so that the second may be theirs, too.
            let own = try #require(try project.newestList().map { try PinList(payload: $0) })
            #expect(try missing(try PinListBuilt.list(Self.text("abc"), after: own)) == ["version 2"])
            #expect(try missing(own).isEmpty)
            // Their line came by version control.
            let lines = try project.folder.text(of: "lists/published.jsonl")
            let digest = String(repeating: "0f", count: 32)
            try project.folder.write(
                lines + "{\"version\":2,\"digest\":\"\(digest)\",\"at\":\"\(Self.now)\"}\n",
                as: "lists/published.jsonl")
            #expect(try self.held(project).missing == ["version 2"])
        }
    }

    @Test("a list that got more signatures before it went out is the list that went out")
    func listThatGotMoreSignaturesBeforeItWentOutIsTheListThatWentOut() async throws {
        try await self.withProject([("ab", 60), ("abc", nil)]) { (project) throws in
            let payload = try #require(try project.newestList())
            var envelope = Envelope(payloadType: Envelope.payloadType(of: .pins), payload: payload)
            envelope.signatures = [Envelope.Signature(keyID: String(repeating: "0", count: 64), bytes: [1])]
            try ListHistory.keep(envelope.bytes, in: project, publishedAt: Self.now)
            let measured = try HeldLists(
                of: project, and: nil, measured: .init(period: 86_400, requests: 1_000, versions: [2: 1_000]))
            #expect(measured.versions == [2] && measured.unknownShare == 0)
            let held = try self.held(project)
            #expect(held.versions == [1, 2] && held.missing.isEmpty)
        }
    }

    @Test("it is said by what one went")
    func itIsSaidByWhatOneWent() async throws {
        try await self.withProject([("ab", 60), ("abc", 20), ("abc", 0)]) { (project) throws in
            #expect(
                try self.held(project).line
                    == "by propagation (30d), not by measured adoption (there is no service), installations may hold "
                    + "versions 1 to 3")
            let measured = try HeldLists(
                of: project, and: nil, measured: .init(period: 86_400, requests: 1_000, versions: [1: 3, 3: 990]))
            #expect(
                measured.line
                    == "by measured adoption (1000 requests in 1d), installations hold versions 1 and 3, and 0.7 % hold "
                    + "lists that are not in lists/")
        }
    }
}
