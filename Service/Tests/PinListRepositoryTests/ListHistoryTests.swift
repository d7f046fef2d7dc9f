// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("The history of a project's lists")
struct ListHistoryTests {
    private static let now = SourceText.now

    @Test("a list and the time at which it went out, once, with the digest that clients name")
    func listAndTheTimeAtWhichItWentOutOnceWithTheDigestThatClientsName() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            let list = try PinListBuilt.list(SourceText.good())
            try ListHistory.keep(list.payload, in: project, publishedAt: nil)
            #expect(try folder.contents(of: "lists/1.json") == Data(list.payload))
            #expect(try ListHistory(of: project).records.isEmpty)
            try ListHistory.keep(list.payload, in: project, publishedAt: Self.now)
            // Published once more, as `publish` may be: it went out when it went out.
            try ListHistory.keep(list.payload, in: project, publishedAt: Self.now.later(86_400))
            let digest = Envelope.digest(of: list.payload)
            #expect(
                try ListHistory(of: project).records == [PublicationRecord(version: 1, digest: digest, at: Self.now)])
            #expect(
                try folder.text(of: "lists/published.jsonl")
                    == "{\"version\":1,\"digest\":\"\(digest)\",\"at\":\"\(Self.now)\"}\n")
        }
    }

    @Test("lists that cannot be read are an error, and not a project that has none")
    func listsThatCannotBeReadAreAnErrorAndNotAProjectThatHasNone() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            #expect(try ListHistory(of: project).records.isEmpty)
            // Something is there under the name, and it is no folder that can be read.
            try folder.write(Data(), as: "lists")
            let refusal = #expect(throws: RepositoryError.self) { try ListHistory(of: project) }
            #expect(refusal?.reason == "lists cannot be read")
        }
    }

    @Test("no list goes out before an older one did, nor before it was issued")
    func noListGoesOutBeforeAnOlderOneDidNorBeforeItWasIssued() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            let first = try PinListBuilt.list(SourceText.good())
            try ListHistory.keep(first.payload, in: project, publishedAt: Self.now.later(-86_400))
            #expect(try ListHistory(of: project).records.map(\.at) == [first.issuedAt])
            let second = try PinListBuilt.list(SourceText.good(), after: first, at: Self.now.later(-3_600))
            let early = #expect(throws: RepositoryError.self) {
                try ListHistory(of: project).expectTurn(of: second.payload, at: Self.now.later(-1))
            }
            #expect(early?.code == .metadata && early?.hint?.contains("--at") == true)
            try ListHistory(of: project).expectTurn(of: second.payload, at: Self.now)
            // What is out may go out again.
            try ListHistory(of: project).expectTurn(of: first.payload, at: Self.now.later(-86_400))
        }
    }

    @Test("a second list of a version is refused, and the first stays")
    func secondListOfAVersionIsRefusedAndTheFirstStays() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            let first = try PinListBuilt.list(SourceText.good())
            let second = try PinListBuilt.list(SourceText.good(list: "refreshAfter: 1h"))
            try ListHistory.keep(first.payload, in: project, publishedAt: nil)
            #expect(throws: RepositoryError.self) {
                try ListHistory.keep(second.payload, in: project, publishedAt: Self.now)
            }
            #expect(throws: RepositoryError.self) { try ListHistory.expectRoom(for: second, in: project) }
            #expect(try folder.contents(of: "lists/1.json") == Data(first.payload))
            #expect(try ListHistory(of: project).records.isEmpty)
        }
    }

    @Test("lines of other people and of newer versions stay, and one without a line break at its end is no trap")
    func linesOfOtherPeopleAndOfNewerVersionsStay() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("lists"), withIntermediateDirectories: true)
            let digest = String(repeating: "0f", count: 32)
            let line = #"{"version": 7, "digest": "\#(digest)", "at": "2026-01-01T00:00:00Z", "by": {"x": [1]}}"#
            try folder.write("\n\(line)", as: "lists/published.jsonl")
            try ListHistory.keep(
                try PinListBuilt.list(SourceText.good()).payload, in: project, publishedAt: Self.now)
            #expect(try ListHistory(of: project).records.map(\.version) == [7, 1])
            #expect(try folder.text(of: "lists/published.jsonl").hasPrefix("\n\(line)\n{\"version\":1,"))
        }
    }

    @Test(
        "an invalid line is refused, with its number: no command goes on with half of the history",
        arguments: [
            "rubbish", "[]", "{}", #"{"version": 0, "digest": "D", "at": "2026-01-01T00:00:00Z"}"#,
            #"{"version": 9007199254740992, "digest": "D", "at": "2026-01-01T00:00:00Z"}"#,
            #"{"version": 1.0, "digest": "D", "at": "2026-01-01T00:00:00Z"}"#,
            #"{"version": 1, "digest": "d", "at": "2026-01-01T00:00:00Z"}"#,
            #"{"version": 1, "digest": "D", "at": "yesterday"}"#, #"{"version": 1, "digest": "D"}"#,
            #"{"version": 1, "version": 2, "digest": "D", "at": "2026-01-01T00:00:00Z"}"#,
            String(repeating: "[", count: 2_000), "<<<<<<< HEAD",
        ])
    func invalidLineIsRefusedWithItsNumberNoCommandGoesOnWithHalfOfTheHistory(line: String) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("lists"), withIntermediateDirectories: true)
            let digest = String(repeating: "0f", count: 32)
            let good = #"{"version": 1, "digest": "D", "at": "2026-01-01T00:00:00Z"}"#
            try folder.write(
                "\(good)\n\(line)\n".replacing("\"D\"", with: "\"\(digest)\""), as: "lists/published.jsonl")
            do throws(RepositoryError) {
                _ = try ListHistory(of: ProjectFolder(folder))
                Issue.record("read without an error")
            } catch {
                #expect(error.code == .metadata && error.reason.hasPrefix("lists/published.jsonl:2: "), "\(error)")
            }
        }
    }

    @Test("a file that holds the list of another version is no list of this one")
    func fileThatHoldsTheListOfAnotherVersionIsNoListOfThisOne() async throws {
        try await withTemporaryFolder { folder in
            let project = ProjectFolder(folder)
            let list = try PinListBuilt.list(SourceText.good())
            try ListHistory.keep(list.payload, in: project, publishedAt: Self.now)
            try folder.write(Data(list.payload), as: "lists/2.json")
            for rubbish in [Data(list.payload), Data("rubbish".utf8)] {
                try folder.write(rubbish, as: "lists/2.json")
                #expect(throws: RepositoryError.self) {
                    try HeldLists(
                        of: project, and: nil, propagation: 86_400, at: Self.now, notMeasured: "there is no service")
                }
            }
        }
    }
}
