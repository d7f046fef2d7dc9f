// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListRepository
import PinRotation
import Testing

@Suite("The plan of a rotation as a file")
struct RotationFileTests {
    private static let name = "rotations/api.example.com.yaml"

    private static func plan() throws -> RotationPlan {
        let host = try HostName("api.example.com")
        var plan = RotationPlan(
            list: "com.example.app", host: host, entries: [host],
            new: PlannedKey(
                Pin(kind: .publicKey, hashing: [1]), kept: "safe: \"no\" # 3, {x}", heldBy: ["true", "4711", "Zoë 🔑"]),
            old: [PlannedKey(Pin(kind: .publicKey, hashing: [2]), position: .leaf)],
            timeline: RotationTimeline(from: SourceText.now), at: SourceText.now)
        try plan.enter(RotationStep(.announced, at: SourceText.now, version: 7, forced: "because: yes"))
        plan.sightings = KeySightings(at: SourceText.now, oldNowhereSince: SourceText.now)
        return plan
    }

    private static func text(_ plan: RotationPlan) -> String { String(decoding: plan.yaml, as: UTF8.self) }

    @Test("a written plan reads back as the same, with any names of people")
    func writtenPlanReadsBackAsTheSameWithAnyNamesOfPeople() throws {
        let plan = try Self.plan()
        #expect(try RotationPlan(yaml: plan.yaml, file: Self.name) == plan)
        #expect(Self.text(plan).contains("\n  - {state: announced, at: 2026-11-21T00:00:00Z, version: 7, "))
    }

    @Test("of a machine's own look and that of the plan the later one counts, but for one that is over a week ahead")
    func ofAMachinesOwnLookAndThatOfThePlanTheLaterOneCountsButForOneThatIsOverAWeekAhead() throws {
        for (own, planned, wanted) in [
            (-2, -1, -1), (-1, -2, -1), (-1, 3, 3), (3, -1, 3), (-1, 8, -1), (8, -1, -1), (3, 4, 4),
        ] as [(Int64, Int64, Int64)] {
            let last = try Self.last(Self.look(own), planned: Self.look(planned))
            #expect(last == Self.look(wanted), "\(own) \(planned)")
        }
    }

    @Test("an old key that one of two machines saw counts, whichever of their clocks is wrong")
    func anOldKeyThatOneOfTwoMachinesSawCountsWhicheverOfTheirClocksIsWrong() throws {
        for days in [-1, 3] as [Int64] {
            let (seen, quiet) = (Self.look(days), Self.look(2 - days, since: -20))
            let wanted = Self.look(3)
            #expect(try Self.last(seen, planned: quiet) == wanted)
            #expect(try Self.last(quiet, planned: seen) == wanted)
        }
        // None did: since the later of both days.
        #expect(
            try Self.last(Self.look(3, since: -20), planned: Self.look(-1, since: -9)) == Self.look(3, since: -9))
    }

    private static func look(_ days: Int64, since: Int64? = nil) -> KeySightings {
        func day(_ days: Int64) -> Timestamp {
            Timestamp(secondsSince1970: SourceText.now.secondsSince1970 + days * 86_400)
        }
        return KeySightings(at: day(days), newEverywhereSince: since.map(day), oldNowhereSince: since.map(day))
    }

    /// The last observation of a machine with one of its own, and with that of the plan.
    private static func last(_ own: KeySightings, planned: KeySightings) throws -> KeySightings? {
        var plan = try Self.plan()
        plan.sightings = planned
        var memory = ProbeMemory()
        memory.keep(own, of: plan)
        return memory.sightings(of: plan, at: SourceText.now)
    }

    @Test(
        "days without the old keys of another plan say nothing of this one's: a standby has one that was not looked for"
    )
    func daysWithoutTheOldKeysOfAnotherPlanSayNothingOfThisOnes() throws {
        let plan = try Self.plan()
        var memory = ProbeMemory()
        let since = SourceText.now.later(-20 * 86_400)
        memory.keep(KeySightings(at: SourceText.now, oldNowhereSince: since), of: plan)
        let read = try #require(ProbeMemory(memory.bytes))
        #expect(read.sightings(of: plan, at: SourceText.now)?.oldNowhereSince == since)
        var wider = plan
        wider.old.append(PlannedKey(Pin(kind: .publicKey, hashing: [9])))
        #expect(read.sightings(of: wider, at: SourceText.now) == plan.sightings)
        wider.old.removeFirst()
        #expect(read.sightings(of: wider, at: SourceText.now) == plan.sightings)
        // Of what was kept without them it is not known what was looked for.
        let text = String(decoding: memory.bytes, as: UTF8.self)
        let older = try #require(ProbeMemory(Array(text.replacing(/"old":\[[^\]]*\],/, with: "").utf8)))
        #expect(older != read && older.sightings(of: plan, at: SourceText.now) == plan.sightings)
    }

    @Test("hostile files are refused with file and line, and none is read without a bound")
    func hostileFilesAreRefusedWithFileAndLineAndNoneIsReadWithoutABound() throws {
        let text = Self.text(try Self.plan())
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let files = [
            "", "a", "[]", "&a b", text.replacing("host: api", with: "host: [api]\nx: api"), text + "more: 1\n",
            text + "schema: 1\n", text.replacing("steps:", with: "steps: \(deep)\nx:"),
            text.replacing("version: 7", with: "version: seven"), text.replacing("version: 7", with: "version: -7"),
            text.replacing("version: 7", with: "version: 99999999999999999999"),
            text.replacing("state: planned", with: "state: {}"), text.replacing("\n  - {state", with: "\n\t- {state"),
            String(repeating: "#", count: RotationPlan.maximumLength + 1),
        ]
        for file in files {
            do {
                _ = try RotationPlan(yaml: Array(file.utf8), file: Self.name)
                Issue.record("read: \(file.prefix(200))")
            } catch {
                #expect(error.code == .source && error.reason.hasPrefix("\(Self.name):"), "\(error)")
            }
        }
        do {
            _ = try RotationPlan(yaml: Array(text.replacing("1%", with: "101%").utf8), file: Self.name)
            Issue.record("read")
        } catch {
            let line = text.split(separator: "\n", omittingEmptySubsequences: false)
                .firstIndex { $0.hasPrefix("maxRefusing") }.map { $0 + 1 }
            #expect(error.reason.hasPrefix("\(Self.name):\(line ?? 0):1: maxRefusing "), "\(error)")
        }
    }

    @Test("a plan of a newer tool is refused as such, and its file is byte for byte what it was")
    func planOfANewerToolIsRefusedAsSuchAndItsFileIsByteForByteWhatItWas() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("rotations"), withIntermediateDirectories: true)
            let text = Self.text(try Self.plan()).replacing("schema: 1", with: "schema: 2\ncolour: red")
            let file = folder.appendingPathComponent(Self.name)
            try Data(text.utf8).write(to: file)
            let rotations = RotationFolder(of: ProjectFolder(folder))
            let host = try HostName("api.example.com")
            let one = #expect(throws: RepositoryError.self) { try rotations.plan(of: host) }
            #expect(one?.code == .newerPlan, "\(String(describing: one))")
            let all = #expect(throws: RepositoryError.self) { try rotations.plans() }
            #expect(all?.code == .newerPlan, "\(String(describing: all))")
            #expect(throws: RepositoryError.self) { try rotations.write(Self.plan(), replacing: nil) }
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test("of two who write over one plan the second is told, and writes nothing")
    func ofTwoWhoWriteOverOnePlanTheSecondIsToldAndWritesNothing() async throws {
        try await withTemporaryFolder { folder in
            let rotations = RotationFolder(of: ProjectFolder(folder))
            let plan = try Self.plan()
            try rotations.write(plan, replacing: nil)
            #expect(throws: RepositoryError.self) { try rotations.write(plan, replacing: nil) }
            let entry = try #require(try rotations.plan(of: plan.host))
            var (first, second) = (plan, plan)
            try first.enter(RotationStep(.ready, at: SourceText.now))
            try second.enter(RotationStep(.aborted, at: SourceText.now))
            try rotations.write(first, replacing: entry)
            #expect(throws: RepositoryError.self) { try rotations.write(second, replacing: entry) }
            #expect(try rotations.plan(of: plan.host)?.plan == first)
            #expect(try rotations.plans().map(\.plan) == [first])
        }
    }

    /// The refusal of a folder of plans.
    private static func refusal(_ folder: URL) -> RepositoryError? {
        do throws(RepositoryError) {
            _ = try RotationFolder(of: ProjectFolder(folder)).plans()
            return nil
        } catch { return error }
    }

    @Test("a link, a folder and a pipe are no plans, wherever they lead, and nothing is written through them")
    func linkAFolderAndAPipeAreNoPlansWhereverTheyLeadAndNothingIsWrittenThroughThem() async throws {
        try await withTemporaryFolder { folder in
            let host = try HostName("api.example.com")
            let rotations = RotationFolder(of: ProjectFolder(folder))
            let file = folder.appendingPathComponent(Self.name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let plan = Data(try Self.plan().yaml)
            let target = folder.appendingPathComponent("elsewhere.yaml")
            try plan.write(to: target)
            let makers: [() throws -> Void] = [
                { try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target) },
                { try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero") },
                { try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "nowhere") },
                { try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false) },
                { #expect(mkfifo(file.path, 0o600) == 0) },
            ]
            for make in makers {
                try make()
                let one = #expect(throws: RepositoryError.self) { try rotations.plan(of: host) }
                #expect(one?.code == .file && one?.hint != nil, "\(String(describing: one))")
                #expect(Self.refusal(folder)?.reason == one?.reason)
                #expect(throws: RepositoryError.self) { try rotations.write(Self.plan(), replacing: nil) }
                try FileManager.default.removeItem(at: file)
            }
            #expect(try Data(contentsOf: target) == plan)
        }
    }

    @Test("the lock of rotations is not taken through a link or a pipe, and makes no file where a link leads")
    func lockOfRotationsIsNotTakenThroughALinkOrAPipe() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder.appendingPathComponent("project"))
            try project.makeLocalFolder()
            let local = project.folder.appendingPathComponent(ProjectFolder.localName)
            let lock = local.appendingPathComponent("rotate.lock")
            let target = folder.appendingPathComponent("elsewhere")
            func isRefused() -> Bool {
                do throws(RepositoryError) {
                    _ = try RotationLock(project)
                    return false
                } catch { return error.code == .file && error.hint != nil }
            }
            #expect(!isRefused())
            try FileManager.default.removeItem(at: lock)
            try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: target)
            #expect(isRefused())
            try FileManager.default.removeItem(at: lock)
            #expect(mkfifo(lock.path, 0o600) == 0)
            #expect(isRefused())
            // The whole folder, too: what it leads to would get a file that hides all others from git.
            try FileManager.default.removeItem(at: local)
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(at: local, withDestinationURL: target)
            #expect(isRefused())
            #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
        }
    }

    @Test("a folder with too many plans, a file that is named for another host or for none, and no folder at all")
    func folderWithTooManyPlansAFileThatIsNamedForAnotherHostOrForNone() async throws {
        try await withTemporaryFolder { folder in
            let plans = folder.appendingPathComponent(RotationFolder.name)
            #expect(Self.refusal(folder) == nil)
            try Data().write(to: plans)
            #expect(Self.refusal(folder)?.reason == "rotations cannot be read")
            try FileManager.default.removeItem(at: plans)
            try FileManager.default.createDirectory(at: plans, withIntermediateDirectories: false)
            let plan = Data(try Self.plan().yaml)
            for (name, words) in [
                ("www.example.com.yaml", "rotations/www.example.com.yaml is the plan of api.example.com"),
                ("no host.yaml", "is named for no host"), ("API.example.com.yaml", "is named for no host"),
            ] {
                let file = plans.appendingPathComponent(name)
                try plan.write(to: file)
                #expect(Self.refusal(folder)?.reason.contains(words) == true, "\(name)")
                #expect(try Data(contentsOf: file) == plan)
                try FileManager.default.removeItem(at: file)
            }
            for index in 0...RotationPlan.maximumEntries {
                try Data().write(to: plans.appendingPathComponent("h\(index).example.com.yaml"))
            }
            #expect(Self.refusal(folder)?.reason == "rotations has over 10000 plans")
        }
    }

    @Test("one command at a time takes steps in a folder")
    func oneCommandAtATimeTakesStepsInAFolder() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            do {
                let lock = try RotationLock(project)
                var isTaken = false
                do throws(RepositoryError) { _ = try RotationLock(project) } catch { isTaken = error.code == .source }
                #expect(isTaken)
                _ = consume lock
            }
            _ = try RotationLock(project)
        }
    }
}
