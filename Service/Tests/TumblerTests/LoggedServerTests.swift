// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@Suite("Servers whose certificates have to be logged")
struct LoggedServerTests {
    private static let shipped = ["--bundled", "bundled.json", "--root", "root.json"]
    private static let withLogs = Self.shipped + ["--logs", "logs.json"]
    private static let enforced = TransparencyRule(.enforce, .chrome)

    private struct Decision: Decodable {
        struct Transparency: Decodable { let policy: String, satisfied: Bool }

        let verdict: String
        let reason: String
        let transparency: Transparency?
    }

    private struct Probe: Decodable {
        struct Host: Decodable {
            struct Transparency: Decodable { let policy: String, satisfied: Bool, detail: String }

            let ok: Bool
            let notes: [String]
            let transparency: [Transparency]
        }

        let hosts: [Host]
    }

    private struct Finding: Decodable {
        let rule: String
        let allowed: Bool
    }

    // MARK: fetch

    @Test("fetch gets a page from a server whose certificate is logged, and of another one sends nothing")
    func fetchGetsAPageFromAServerWhoseCertificateIsLoggedAndOfAnotherOneSendsNothing() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.ship(Self.enforced)
            let logged = try await scene.fetch(Self.withLogs)
            logged.expectResult()
            #expect(logged.output == "hello")
            let decided = try await scene.fetch(Self.withLogs + ["--decision", "--json"])
            let decision = try decided.decoded(as: Decision.self)
            #expect(decision.reason == "pin-match" && decision.transparency?.satisfied == true)
            #expect(decision.transparency?.policy == "chrome")
            let requests = scene.server.counts.requests
            try scene.serve(logged: false)
            let refused = try await scene.fetch(Self.withLogs)
            refused.expectError(1)
            #expect(refused.errors.contains("transparency") && refused.outputBytes.isEmpty, "\(refused)")
            #expect(scene.server.counts.requests == requests)
        }
    }

    @Test("fetch goes on with a certificate that is not logged where the list only reports, and says so when asked")
    func fetchGoesOnWithACertificateThatIsNotLoggedWhereTheListOnlyReportsAndSaysSoWhenAsked() async throws {
        try await LoggedServerScene.with(logged: false) { scene in
            try scene.ship(TransparencyRule(.report, .apple))
            let run = try await scene.fetch(Self.withLogs)
            #expect(run.exitCode == 0 && run.output == "hello", "\(run)")
            let decision = try await scene.fetch(Self.withLogs + ["--decision", "--json"]).decoded(as: Decision.self)
            #expect(decision.verdict == "allow" && decision.reason == "transparency")
            #expect(decision.transparency?.satisfied == false && decision.transparency?.policy == "apple")
        }
    }

    @Test("fetch without the log list that the list names evaluates no policy, and a note says that it is missing")
    func fetchWithoutTheLogListThatTheListNamesEvaluatesNoPolicyAndANoteSaysThatItIsMissing() async throws {
        try await LoggedServerScene.with(logged: false) { scene in
            try scene.ship(Self.enforced)
            try scene.folder.write(Data(scene.logs(1)), as: "other.json")
            for more in [[], ["--logs", "other.json"]] {
                let run = try await scene.fetch(Self.shipped + more)
                #expect(run.exitCode == 0 && run.output == "hello", "\(run)")
                #expect(run.errorLines.count == 1 && run.errors.hasPrefix("tumbler: note: "), "\(run)")
                #expect(run.errors.contains("logs-missing"), "\(run)")
            }
            try scene.folder.write("{}", as: "none.json")
            try await scene.fetch(Self.shipped + ["--logs", "none.json"]).expectError(2)
            try await scene.fetch(Self.shipped + ["--logs", "missing.json"]).expectError(2)
            #expect(scene.server.counts.requests == 2)
        }
    }

    @Test(
        "fetch with --list-url gets the log list beside the list, keeps it, and enforces by it when neither can be had",
        .enabled(if: ServedLists.python != nil, "python3 is not installed"))
    func fetchWithListUrlGetsTheLogListBesideTheListKeepsItAndEnforcesByIt() async throws {
        try await LoggedServerScene.with(logged: false) { scene in
            let lists = try scene.ship(Self.enforced)
            let site = scene.folder.appendingPathComponent("site")
            try FileManager.default.createDirectory(
                at: site.appendingPathComponent("logs"), withIntermediateDirectories: true)
            let digest = Envelope.digest(of: scene.logs())
            func options(_ address: String) -> [String] {
                ["--list-url", address, "--root", "root.json", "--state", "state"]
            }
            try await lists.serving { address in
                let missing = try await scene.fetch(options(address))
                #expect(missing.exitCode == 0 && missing.output == "hello", "\(missing)")
                #expect(missing.errors.contains("the log list was not fetched"), "\(missing)")
                try site.write(Data(scene.logs()), as: "logs/\(digest).json")
                try await scene.fetch(options(address)).expectError(1)
            }
            let offline = try await scene.fetch(options("http://127.0.0.1:1/lists"))
            #expect(offline.exitCode == 1 && offline.errors.contains("transparency"), "\(offline)")
            try scene.serve(logged: true)
            #expect(try await scene.fetch(options("http://127.0.0.1:1/lists")).output == "hello")
            #expect(scene.server.counts.requests == 2)
        }
    }

    // MARK: gate

    @Test("the gate takes a renewed certificate that is logged, and stops one with the same key that is not")
    func gateTakesARenewedCertificateThatIsLoggedAndStopsOneWithTheSameKeyThatIsNot() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.makeProject(Self.enforced)
            let logged = try await scene.gate(scene.pki.logged)
            #expect(logged.exitCode == 0, "\(logged)")
            let unlogged = try await scene.gate(scene.pki.unlogged)
            #expect(unlogged.exitCode == 1, "\(unlogged)")
            #expect(unlogged.output.contains("Certificate Transparency is not satisfied"), "\(unlogged)")
            // The log list that the list names is another one, and gone.
            let digest = Envelope.digest(of: scene.logs())
            try scene.folder.write(Data(scene.logs(1)), as: "project/logs.json")
            try FileManager.default.removeItem(at: scene.folder.appendingPathComponent("project/logs/\(digest).json"))
            let unknown = try await scene.gate(scene.pki.logged)
            #expect(unknown.exitCode == 2 && unknown.output.contains("the log list"), "\(unknown)")
            let lint = try await CommandRun.tumbler(["lint", "-C", "project"], in: scene.folder)
            #expect(lint.errors.contains("the log list of version 2, which installations may still hold"), "\(lint)")
        }
    }

    // MARK: probe, and what lint knows from it

    @Test("probe says of each policy whether it is satisfied, as a note and as JSON, and remembers it for lint")
    func probeSaysOfEachPolicyWhetherItIsSatisfiedAsANoteAndAsJSONAndRemembersItForLint() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.makeProject(Self.enforced)
            #expect(try await self.rules(scene, []) == ["unseen-transparency"])
            let words = try await scene.look(["probe"])
            #expect(words.exitCode == 0, "\(words)")
            #expect(words.output.contains("Certificate Transparency: chrome satisfied: "), "\(words)")
            // The entry asks for one policy: of the other one a person need not be told.
            #expect(!words.output.contains("apple"))
            let host = try #require(try await self.probe(scene))
            #expect(host.ok && host.transparency.map(\.policy).sorted() == ["apple", "chrome"])
            #expect(host.transparency.allSatisfy { $0.satisfied && !$0.detail.isEmpty })
            #expect(host.notes.contains { $0.hasPrefix("Certificate Transparency: chrome satisfied: ") })
            let kept = try scene.folder.text(of: "project/.tumbler/probe.json")
            #expect(kept.contains("\"\(Envelope.digest(of: scene.logs()))\":[\"apple\",\"chrome\"]"), "\(kept)")
            #expect(try await self.rules(scene, []).isEmpty)
        }
    }

    @Test("a newer log list that lacks a needed log is not released on what a probe saw with the one before")
    func newerLogListThatLacksANeededLogIsNotReleasedOnWhatAProbeSawWithTheOneBefore() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.makeProject(Self.enforced)
            _ = try await self.probe(scene)
            #expect(try await self.rules(scene, []).isEmpty)
            // Clients have the list before, whose log list is kept, and the next one names the newer.
            try scene.folder.write(Data(scene.logs(1)), as: "project/logs.json")
            let unseen = try await CommandRun.tumbler(["lint", "-C", "project"], in: scene.folder)
            #expect(unseen.exitCode == 1 && unseen.output.contains("no probe looked with this log list"), "\(unseen)")
            let host = try #require(try await self.probe(scene))
            #expect(host.ok && host.transparency.allSatisfy { $0.satisfied })
            let note = "with the log list that tumbler.yaml names, chrome would not be satisfied: "
            #expect(host.notes.count { $0.hasPrefix("Certificate Transparency: \(note)") } == 1, "\(host.notes)")
            let refused = try await CommandRun.tumbler(["lint", "-C", "project"], in: scene.folder)
            #expect(refused.exitCode == 1 && refused.output.contains("not satisfied when it was last"), "\(refused)")
            // The log list before still counts as it was seen.
            try scene.folder.write(Data(scene.logs()), as: "project/logs.json")
            #expect(try await self.rules(scene, []).isEmpty)
        }
    }

    @Test("a newer log list that has all needed logs can be released after a probe, without a look at release")
    func newerLogListThatHasAllNeededLogsCanBeReleasedAfterAProbe() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.makeProject(Self.enforced)
            _ = try await self.probe(scene)
            let hourAgo = Timestamp(secondsSince1970: scene.yesterday.secondsSince1970 + 82_800)
            let newer = SigningLog.list(of: scene.pki.logs, at: hourAgo.description)
            try scene.folder.write(Data(newer), as: "project/logs.json")
            #expect(try await self.rules(scene, []) == ["unseen-transparency"])
            let host = try #require(try await self.probe(scene))
            #expect(host.ok && !host.notes.contains { $0.contains("tumbler.yaml") }, "\(host.notes)")
            #expect(try await self.rules(scene, []).isEmpty)
            // A file that is being edited keeps no probe from saying what clients do.
            try scene.folder.write("{}", as: "project/logs.json")
            let probed = try await scene.look(["probe"])
            #expect(probed.exitCode == 0 && probed.errors.contains("logs.json is not a log list"), "\(probed)")
            #expect(probed.output.contains("Certificate Transparency: chrome satisfied: "), "\(probed)")
        }
    }

    @Test("probe of a certificate that is not logged is no failure, and keeps lint from letting enforce through")
    func probeOfACertificateThatIsNotLoggedIsNoFailureAndKeepsLintFromLettingEnforceThrough() async throws {
        try await LoggedServerScene.with(logged: false) { scene in
            try scene.makeProject(TransparencyRule(.report, .chrome))
            let host = try #require(try await self.probe(scene))
            #expect(host.ok && host.transparency.allSatisfy { !$0.satisfied })
            #expect(host.notes.contains { $0.hasPrefix("Certificate Transparency: chrome not satisfied: ") })
            try scene.makeProject(Self.enforced)
            #expect(try await self.rules(scene, []) == ["unseen-transparency"])
            let run = try await CommandRun.tumbler(["lint", "-C", "project"], in: scene.folder)
            #expect(run.exitCode == 1 && run.output.contains("not satisfied when it was last probed"), "\(run)")
            // Who knows better says so.
            let allowed = try await CommandRun.tumbler(
                ["lint", "-C", "project", "--allow", "unseen-transparency"], in: scene.folder)
            #expect(allowed.exitCode == 0, "\(allowed)")
        }
    }

    @Test("lint --live looks at what is served now, which outweighs what an earlier probe saw, both ways")
    func lintLiveLooksAtWhatIsServedNowWhichOutweighsWhatAnEarlierProbeSawBothWays() async throws {
        try await LoggedServerScene.with(logged: true) { scene in
            try scene.makeProject(Self.enforced)
            #expect(try await self.rules(scene, ["--live"]).isEmpty)
            _ = try await self.probe(scene)
            try scene.serve(logged: false)
            #expect(try await self.rules(scene, []).isEmpty)
            #expect(try await self.rules(scene, ["--live"]) == ["unseen-transparency"])
            // The list that is out enforces the policy: clients are refused.
            let host = try #require(try await self.probe(scene, ending: 1))
            #expect(!host.ok)
            try scene.serve(logged: true)
            #expect(try await self.rules(scene, []) == ["unseen-transparency"])
            #expect(try await self.rules(scene, ["--live"]).isEmpty)
        }
    }

    /// The first host of `probe --json`.
    private func probe(_ scene: LoggedServerScene, ending code: Int32 = 0) async throws -> Probe.Host? {
        let run = try await scene.look(["probe", "--json"])
        #expect(run.exitCode == code, "\(run)")
        return try run.decoded(as: Probe.self).hosts.first
    }

    /// The rules about transparency that `lint` finds broken.
    private func rules(_ scene: LoggedServerScene, _ more: [String]) async throws -> [String] {
        let words = ["lint", "--json"] + more
        // Without an address to look at there is nothing to connect to.
        let run =
            try await more.isEmpty
            ? CommandRun.tumbler(words + ["-C", "project"], in: scene.folder) : scene.look(words)
        return try run.decoded(as: [Finding].self).map(\.rule).filter { $0.contains("transparency") }
    }
}
