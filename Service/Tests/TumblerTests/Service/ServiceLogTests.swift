// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Logging
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import tumbler_service

@Suite("The service's commands", .enabled(if: ServedLists.python != nil, "there is no python3"))
struct ServiceLogTests {
    /// Python comes with SQLite: it changes a database behind the service's back.
    static let sqlite = ServedLists.python

    private struct Verified: Decodable {
        let entries: Int
        let head: String
    }

    private static func tumbler(_ arguments: [String], in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(arguments + ["--data-dir", "data"], in: folder)
    }

    /// Changes the database by hand.
    private static func change(_ sql: String, in folder: URL) async throws {
        let python = try #require(Self.sqlite)
        let program =
            "import sqlite3,sys; c=sqlite3.connect('data/tumbler.sqlite'); c.executescript(sys.argv[1]); c.commit()"
        let run = try await FinishedProcess.run(python, ["-c", program, sql], in: folder)
        #expect(run.status == 0, "\(String(decoding: run.errors, as: UTF8.self))")
    }

    private static func withLog(_ body: (URL, Verified) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await Self.tumbler(["serve", "--migrate"], in: folder).expectResult()
            for _ in 0..<3 {
                let made = try await Self.tumbler(["token", "create", "--scope", "read"], in: folder)
                #expect(made.exitCode == 0, "\(made)")
            }
            let run = try await Self.tumbler(["audit-log", "verify", "--json"], in: folder)
            run.expectResult()
            try await body(folder, try run.decoded())
        }
    }

    @Test("a log holds as long as it is not changed, and a head that was kept is found in it later")
    func logHoldsAsLongAsItIsNotChangedAndAHeadThatWasKeptIsFoundInItLater() async throws {
        try await Self.withLog { folder, verified in
            #expect(verified.entries == 3)
            _ = try await Self.tumbler(["token", "create", "--scope", "publish", "--name", "a"], in: folder)
            let later = try await Self.tumbler(["audit-log", "verify", "--head", verified.head], in: folder)
            later.expectResult()
            #expect(later.output.hasPrefix("4 entries hold; head "))
            let show = try await Self.tumbler(["audit-log", "show", "--limit", "1"], in: folder)
            #expect(show.lines.count == 1)
            #expect(show.output.hasPrefix("4  "))
            #expect(show.output.contains("publish for a"))
        }
    }

    @Test("an entry that was changed behind its back is found; the database itself refuses it first")
    func entryThatWasChangedBehindItsBackIsFoundTheDatabaseItselfRefusesItFirst() async throws {
        try await Self.withLog { folder, _ in
            let python = try #require(Self.sqlite)
            let refused = try await FinishedProcess.run(
                python,
                ["-c", "import sqlite3; sqlite3.connect('data/tumbler.sqlite').execute('UPDATE audit SET actor=1')"],
                in: folder)
            #expect(String(decoding: refused.errors, as: UTF8.self).contains("the audit log is only appended to"))
            try await Self.change(
                "DROP TRIGGER audit_update; UPDATE audit SET detail = 'nothing' WHERE number = 2;", in: folder)
            let run = try await Self.tumbler(["audit-log", "verify"], in: folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("entry 3 does not follow the one before it"), "\(run)")
        }
    }

    @Test("a log that was cut off holds together, and only the head that was kept shows it")
    func logThatWasCutOffHoldsTogetherAndOnlyTheHeadThatWasKeptShowsIt() async throws {
        try await Self.withLog { folder, verified in
            try await Self.change("DROP TRIGGER audit_delete; DELETE FROM audit WHERE number = 3;", in: folder)
            try await Self.tumbler(["audit-log", "verify"], in: folder).expectResult()
            let run = try await Self.tumbler(["audit-log", "verify", "--head", verified.head], in: folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("rewritten or cut off"))
            try await Self.change("DELETE FROM audit WHERE number = 1;", in: folder)
            try await Self.tumbler(["audit-log", "verify"], in: folder).expectError(1)
        }
    }

    @Test("months that are sealed and removed are told; a head of one is in its seal, or cannot be decided any more")
    func monthsThatAreSealedAndRemovedAreToldAHeadOfOneIsInItsSeal() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("data"), withIntermediateDirectories: true)
            let store = try SQLiteStore(path: folder.appendingPathComponent("data/tumbler.sqlite").path)
            for (day, detail) in [("2024-07-01", "a"), ("2024-07-02", "b"), ("2026-11-01", "c")] {
                let time = try Timestamp("\(day)T00:00:00Z")
                try await store.write { try $0.log("note", detail, by: "test", at: time) }
            }
            let july = try await store.read { try $0.auditEntries(from: 1, limit: 2) }
            let clock = try Timestamp("2026-11-21T00:00:00Z")
            await Retention(
                store: store, limits: .init(), clock: StoppedClock(now: clock),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).look()
            let run = try await Self.tumbler(["audit-log", "verify", "--head", july[1].digest], in: folder)
            run.expectResult()
            #expect(run.lines.first?.hasSuffix("; entries 1 to 2 were sealed and removed") == true)
            #expect(run.lines.last == "sealed 2024-07: entries 1 to 2; head \(july[1].digest)")
            let verified: Verified = try await Self.tumbler(["audit-log", "verify", "--json"], in: folder).decoded()
            #expect(verified.entries == 4)
            let gone = try await Self.tumbler(["audit-log", "verify", "--head", july[0].digest], in: folder)
            gone.expectError(2, hint: true)
            #expect(gone.errors.contains("one of the entries 1 to 2"), "\(gone)")
            let show = try await Self.tumbler(["audit-log", "show"], in: folder)
            #expect(show.lines.map { $0.prefix(1) } == ["3", "4"])
        }
    }

    /// A clock that stands.
    private struct StoppedClock: ServiceClock {
        let now: Timestamp
        var uptime: Double { 0 }
    }

    @Test("a database of a later version is left alone")
    func databaseOfALaterVersionIsLeftAlone() async throws {
        try await Self.withLog { folder, _ in
            try await Self.change("INSERT INTO migration (number) VALUES (99);", in: folder)
            let run = try await Self.tumbler(["serve", "--check"], in: folder)
            run.expectError(2)
            #expect(run.errors.contains("written by a later one"), "\(run)")
        }
    }

    @Test("a token is shown once, listed without its secret, and revoked once")
    func tokenIsShownOnceListedWithoutItsSecretAndRevokedOnce() async throws {
        try await withTemporaryFolder { folder in
            try await Self.tumbler(["serve", "--migrate"], in: folder).expectResult()
            let made = try await Self.tumbler(
                ["token", "create", "--scope", "read", "--label", "Prometheus", "--owner", "ops", "--expires", "90d"],
                in: folder)
            let secret = try #require(made.lines.first)
            let id = String(secret.split(separator: "_")[1])
            let list = try await Self.tumbler(["token", "list"], in: folder)
            #expect(list.output.hasPrefix("\(id)  read  all names  made "))
            #expect(list.output.contains("  label Prometheus  owner ops  ends "))
            #expect(!list.output.contains(secret))
            try await Self.tumbler(["token", "revoke", id], in: folder).expectResult()
            try await Self.tumbler(["token", "revoke", id], in: folder).expectError(1)
            #expect(try await Self.tumbler(["token", "list"], in: folder).output.contains("  revoked "))
            let log = try await Self.tumbler(["audit-log", "show"], in: folder).output
            #expect(log.contains("  cli  token-create  \(id) \"Prometheus\" (ops), read, until "), "\(log)")
            // Of a token that was revoked there may be something to forget, and here there is not.
            let forget = ["token", "revoke", id, "--forget-sightings"]
            try await Self.tumbler(forget, in: folder).expectError(1, hint: true)
            // Without --owner it is the user who types.
            let second = try await Self.tumbler(["token", "create", "--scope", "read"], in: folder)
            let mine = try await Self.tumbler(["token", "list", "--json"], in: folder)
            #expect(mine.output.contains("\"owner\":\"\(OperatingUser.name(ProcessInfo.processInfo.environment))\""))
            let other = String(try #require(second.lines.first).split(separator: "_")[1])
            let both = try await Self.tumbler(["token", "revoke", other, "--forget-sightings"], in: folder)
            #expect(both.lines == ["revoked \(other)", "forgot 0 certificates that it told"], "\(both)")
            for wrong in [
                ["--scope", "publish"], ["--scope", "read", "--name", "a"], ["--scope", "x"],
                ["--scope", "read", "--label", "a\u{202e}b"], ["--scope", "read", "--expires", "soon"],
                ["--scope", "read", "--owner", String(repeating: "a", count: 101)],
                ["--scope", "read", "--label", "login link"],
            ] {
                try await Self.tumbler(["token", "create"] + wrong, in: folder).expectError(64)
            }
        }
    }

    @Test("the log of a cache is counted once; a configured root that is none is found by --check")
    func logOfACacheIsCountedOnceAConfiguredRootThatIsNoneIsFoundByCheck() async throws {
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            try await Self.tumbler(["serve", "--migrate"], in: folder).expectResult()
            try folder.write(
                "{\"time\": \"2026-11-21T00:00:00+00:00\", \"status\": 200, \"path\": \"/x\"}\n?\n", as: "log")
            let first = try await Self.tumbler(["adoption", "import", "log"], in: folder)
            first.expectResult()
            #expect(
                first.lines == ["counted 0 requests; 1 were about something else, 1 lines could not be read"])
            let again = try await Self.tumbler(["adoption", "import", "log"], in: folder)
            again.expectError(1, hint: true)
            try await Self.tumbler(["adoption", "import", "gone"], in: folder).expectError(2)
            let good = try await Self.tumbler(["serve", "--check", "--name", "com.example.app=root.json"], in: folder)
            good.expectResult()
            #expect(
                good.lines == [
                    "com.example.app: nothing is published yet; the first publication is root 1 and a list",
                    "the configuration and the database are in order",
                ])
            for name in ["com.example.app=bundled.json", "com.example.other=root.json"] {
                let run = try await Self.tumbler(["serve", "--check", "--name", name], in: folder)
                #expect(run.exitCode != 0)
                #expect(run.errors.contains("do not verify"), "\(run)")
            }
            try folder.write("no certificate", as: "c.pem")
            try folder.write("tls: {certificate: c.pem, key: c.pem}\n", as: "s.yaml")
            let tls = try await Self.tumbler(["serve", "--check", "--config", "s.yaml"], in: folder)
            #expect(tls.exitCode != 0, "\(tls)")
            #expect(tls.errorLines.count <= 2, "\(tls)")
        }
    }
}
