// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("tumbler refresh", .enabled(if: ServedLists.python != nil, "python3 is not installed"))
struct RefreshTests {
    private static let time = "2026-11-22T00:00:00Z"

    /// The output of `refresh --json`.
    private struct Printed: Decodable, Equatable {
        struct Root: Decodable, Equatable { let version: Int64 }
        struct List: Decodable, Equatable {
            let name: String
            let version: Int64
            let source: String
            let status: String
            let stale: Bool
        }
        struct Refused: Decodable, Equatable {
            let what: String
            let code: String
            let of: String?
            let detail: String
        }
        let root: Root
        let list: List?
        let refused: [Refused]
        let events: [String]
    }

    private func refresh(
        _ address: String, in folder: URL, bundled: Bool = true, at time: String = Self.time
    ) async throws -> (exitCode: Int32, printed: Printed) {
        let run = try await CommandRun.tumbler(
            ["refresh", "--list-url", address, "--root", "root.json", "--state", "state", "--json", "--at", time]
                + (bundled ? ["--bundled", "bundled.json"] : []), in: folder)
        return (run.exitCode, try JSONDecoder().decode(Printed.self, from: run.outputBytes))
    }

    @Test("a first refresh fetches the newest list and stores it; the next one finds it there")
    func firstRefreshFetchesTheNewestListAndStoresItTheNextOneFindsItThere() async throws {
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            try lists.publishList()
            try await lists.serving { address in
                let first = try await self.refresh(address, in: folder)
                #expect(first.exitCode == 0)
                #expect(
                    first.printed.list
                        == .init(name: "com.example.app", version: 2, source: "remote", status: "current", stale: false)
                )
                #expect(first.printed.refused.isEmpty)
                #expect(first.printed.events == ["list-accepted"])
                let second = try await self.refresh(address, in: folder)
                #expect(second.exitCode == 0)
                #expect(second.printed.list?.source == "stored")
                #expect(second.printed.list?.version == 2)
            }
        }
    }

    @Test("without a list of its own, a first refresh begins with nothing")
    func withoutAListOfItsOwnAFirstRefreshBeginsWithNothing() async throws {
        try await withTemporaryFolder { folder in
            let lists = try ServedLists(in: folder)
            try await lists.serving { address in
                let run = try await self.refresh(address, in: folder, bundled: false)
                #expect(run.exitCode == 0)
                #expect(run.printed.list?.source == "remote")
            }
            try FileManager.default.removeItem(at: folder.appendingPathComponent("state"))
            let offline = try await self.refresh("http://127.0.0.1:1", in: folder, bundled: false)
            #expect(offline.exitCode == 2)
            #expect(offline.printed.list == nil)
        }
    }

    @Test("a replayed old list is refused as a rollback, and the newer one stays in force")
    func replayedOldListIsRefusedAsARollbackAndTheNewerOneStaysInForce() async throws {
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            try lists.publishList()
            let old = try #require(lists.repository.lists.last)
            try lists.publishList()
            try await lists.serving { address in
                #expect(try await self.refresh(address, in: folder).exitCode == 0)
                try folder.write(Data(old), as: "site/pins.json")
                let replayed = try await self.refresh(address, in: folder)
                #expect(replayed.exitCode == 1)
                #expect(replayed.printed.refused.map(\.code) == ["rollback"])
                #expect(replayed.printed.refused.map(\.what) == ["pins"])
                #expect(replayed.printed.list?.version == 3)
            }
        }
    }

    @Test("an expired root refuses what comes from outside, and says that it is the root")
    func expiredRootRefusesWhatComesFromOutsideAndSaysThatItIsTheRoot() async throws {
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            try lists.publishList { $0.expiresAt = $0.issuedAt.advanced(by: 4 * 365 * 86_400) }
            try await lists.serving { address in
                let run = try await self.refresh(address, in: folder, at: "2030-01-01T00:00:00Z")
                #expect(run.exitCode == 1)
                #expect(run.printed.refused.map(\.code) == ["expired"])
                #expect(run.printed.refused.map(\.of) == ["root"])
                #expect(run.printed.list?.stale == true)
            }
        }
    }

    @Test("a disk that takes nothing: the list is in force, and the exit code says that it was not stored")
    func diskThatTakesNothingTheListIsInForceAndTheExitCodeSaysThatItWasNotStored() async throws {
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            try lists.publishList()
            try await lists.serving { address in
                // A limit on the size of files is a disk that is full; the pipe is not a file.
                let line = """
                    ( trap '' XFSZ; ulimit -f 0; "$0" refresh --list-url \(address) --root root.json \
                    --bundled bundled.json --state state --json --at \(Self.time) 2>/dev/null; echo "exit $?" ) | cat
                    """
                let run = try await CommandRun.shell(line, in: folder)
                #expect(run.lines.last == "exit 2", "\(run)")
                let printed = try JSONDecoder().decode(Printed.self, from: Data((run.lines.first ?? "").utf8))
                #expect(printed.list?.version == 2)
                #expect(printed.events.contains("store-failed"))
                let stored = try FileManager.default.subpathsOfDirectory(
                    atPath: folder.appendingPathComponent("state").path)
                #expect(!stored.contains("pins.json"), "\(stored)")
            }
        }
    }

    @Test("for people: one line of what is in force, and what was refused on standard error, with the attack it may be")
    func forPeopleOneLineOfWhatIsInForceAndWhatWasRefusedOnStandardError() async throws {
        try await withTemporaryFolder { folder in
            let lists = try ServedLists(in: folder)
            try folder.write(Data(repeating: 0x20, count: 5_000_000), as: "site/pins.json")
            try await lists.serving { address in
                let run = try await CommandRun.tumbler(
                    [
                        "refresh", "--list-url", address, "--root", "root.json", "--bundled", "bundled.json", "--state",
                        "state", "--at", Self.time,
                    ], in: folder)
                #expect(run.exitCode == 1)
                #expect(run.output == "com.example.app version 1 (bundled, current), root 1\n")
                #expect(run.errors.contains("too-large") && run.errors.contains("endless data"), "\(run)")
            }
        }
    }

    @Test("a list that has expired: a warning of what clients do with it, beside a refresh that refused nothing")
    func listThatHasExpiredIsAWarningBesideARefreshThatRefusedNothing() async throws {
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            try lists.publishList { $0.expiresAt = $0.issuedAt.advanced(by: 2 * 86_400) }
            try await lists.serving { address in
                func refresh(at time: String, _ more: [String] = []) async throws -> CommandRun {
                    try await CommandRun.tumbler(
                        [
                            "refresh", "--list-url", address, "--root", "root.json", "--bundled", "bundled.json",
                            "--state", "state", "--at", time,
                        ] + more, in: folder)
                }
                try await refresh(at: Self.time).expectResult()
                for more in [[], ["--json"]] {
                    let run = try await refresh(at: "2026-11-25T00:00:00Z", more)
                    #expect(run.exitCode == 0, "\(run)")
                    let expected =
                        "tumbler: warning: version 2 of com.example.app has expired: clients still enforce it, until "
                        + "they get a newer one"
                    #expect(run.errorLines == [expected], "\(run)")
                    let isSaid =
                        more.isEmpty
                        ? run.output == "com.example.app version 2 (stored, current, expired), root 1\n"
                        : run.output.contains(#""stale":true"#)
                    #expect(isSaid, "\(run)")
                }
            }
        }
    }

    @Test("kill -9 at any moment of a refresh leaves the old list or the new one, whole")
    func kill9AtAnyMomentOfARefreshLeavesTheOldListOrTheNewOneWhole() async throws {
        // Full size in `make proof`.
        let isProof = ProcessInfo.processInfo.environment["TUMBLER_PROOF"] != nil
        let rounds = isProof ? 500 : 15
        try await withTemporaryFolder { folder in
            var lists = try ServedLists(in: folder)
            let program = try #require(CommandRun.program)
            var held: Int64 = 1
            var stored = 0
            for round in 0..<rounds {
                try lists.publishList()
                let newest = lists.repository.list.version
                try await lists.serving { address in
                    // Each round is killed a little later than the one before; after 60 ms nearly all are done.
                    let limit = 0.06 * Double(round % 50 + 1) / 50 * (isProof ? 1 : 3)
                    _ = try await FinishedProcess.run(
                        program,
                        [
                            "refresh", "--list-url", address, "--root", "root.json", "--bundled", "bundled.json",
                            "--state", "state", "--at", Self.time,
                        ], in: folder, killedAfter: min(limit, 0.06))
                }
                let after = try await self.refresh("http://127.0.0.1:1", in: folder)
                let version = try #require(after.printed.list?.version)
                #expect(version == newest || version == held, "round \(round): \(version) after \(held)")
                #expect(!after.printed.events.contains("state-damaged"), "round \(round): \(after.printed)")
                if version == newest { stored += 1 }
                held = version
            }
            // And nothing is in the way of the next one.
            let newest = lists.repository.list.version
            let last = try await lists.serving { try await self.refresh($0, in: folder) }
            #expect(last.printed.list?.version == newest)
            print("\(rounds) refreshes killed; \(stored) had stored the new list by then, none left anything else")
        }
    }
}
