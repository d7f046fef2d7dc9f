// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@Suite("The served chain, and the lists that installations may still hold")
struct HeldListCommandTests {
    private struct Finding: Decodable, Equatable {
        let rule: String
        let subject: String
    }

    private struct PrintedHeld: Decodable {
        struct Held: Decodable {
            let basis: String
            let versions: [Int64]
            let why: String?
        }
        struct Host: Decodable {
            let ok: Bool
            let verdict: String?
            let refusedBy: [Int64]
            let refusing: Double?
        }
        let held: Held?
        let hosts: [Host]
    }

    /// A project that was made 60 days ago with two pins that no server presents.
    private func withProject(
        propagation: String = "30d", _ body: (ProbeScene, [String]) async throws -> Void
    ) async throws {
        try await ProbeScene.with { scene in
            try await scene.makeProject(propagation: propagation)
            try await body(
                scene,
                [
                    "-C", "project", "--roots", "anchors.pem", "--connect-to",
                    "api.example.com:127.0.0.1:\(scene.server.port)", "--live",
                ])
        }
    }

    private func probe(_ scene: ProbeScene, _ more: [String] = []) async throws -> CommandRun {
        try await CommandRun.tumbler(
            [
                "probe", "-C", "project", "--roots", "anchors.pem", "--connect-to", "::127.0.0.1:\(scene.server.port)",
            ] + more, in: scene.folder)
    }

    @Test("the night in which a server presents a key that installed apps do not know: no tool says that all is well")
    func nightInWhichAServerPresentsAKeyThatInstalledAppsDoNotKnow() async throws {
        try await self.withProject { scene, live in
            try scene.addPin()
            // It matches the new list, so lint has nothing against that one.
            let lint = try await CommandRun.tumbler(["lint", "--json"] + live, in: scene.folder)
            #expect(lint.exitCode == 1, "\(lint)")
            let findings: [Finding] = try lint.decoded()
            #expect(findings == [Finding(rule: "held-list-refuses", subject: "api.example.com")])
            let stopped = try await CommandRun.tumbler(["release", "--yes"] + live, in: scene.folder)
            stopped.expectError(1, hint: true)
            #expect(stopped.errors.contains("held-list-refuses") && stopped.errors.contains("version 1"), "\(stopped)")
            // Without a probe it is unknown.
            #expect(try await scene.release(daysAgo: 1).exitCode == 0)
            let probe = try await self.probe(scene)
            #expect(probe.exitCode == 1, "\(probe)")
            #expect(probe.lines.first?.hasPrefix("FAILS ") == true, "\(probe)")
            #expect(probe.output.contains("version 1, which installations may still hold, refuses it"), "\(probe)")
            let printed: PrintedHeld = try await self.probe(scene, ["--json"]).decoded()
            #expect(printed.hosts.map(\.verdict) == ["allow"] && printed.hosts.map(\.ok) == [false])
            #expect(printed.hosts.map(\.refusedBy) == [[1]] && printed.hosts.map(\.refusing) == [nil])
            #expect(printed.held?.basis == "propagation" && printed.held?.versions == [1, 2])
            #expect(printed.held?.why == "there is no service")
        }
    }

    @Test("the entry of a host goes below a parent with other pins: the difference says it, and release --live stops")
    func entryOfAHostGoesBelowAParentWithOtherPins() async throws {
        try await ProbeScene.with { scene in
            try await scene.makeProject(["\(try scene.pki.leaf.pin)", ProjectText.pin("b")])
            let source = try scene.folder.text(of: "project/tumbler.yaml")
            let parent = """
                  - domain: example.com
                    includeSubdomains: true
                    pins: [{pin: "\(ProjectText.pin("c"))"}, {pin: "\(ProjectText.pin("d"))"}]
                denied: []

                """
            try scene.folder.write(source.replacing("denied: []\n", with: parent), as: "project/tumbler.yaml")
            #expect(try await scene.release(daysAgo: 40).exitCode == 0)
            let head = try #require(source.components(separatedBy: "domains:\n").first)
            try scene.folder.write("\(head)domains:\n\(parent)", as: "project/tumbler.yaml")
            let stopped = try await CommandRun.tumbler(
                [
                    "release", "--yes", "-C", "project", "--roots", "anchors.pem", "--connect-to",
                    "::127.0.0.1:\(scene.server.port)", "--live",
                ], in: scene.folder)
            #expect(stopped.exitCode == 1, "\(stopped)")
            #expect(stopped.errors.contains("would-cut-off: api.example.com"), "\(stopped)")
            #expect(stopped.errors.contains("the entry example.com applies to it"), "\(stopped)")
            // Without a look at the host a person has to know.
            let told = try await scene.release(daysAgo: 0)
            #expect(told.exitCode == 0, "\(told)")
            let line = "- api.example.com: entry enforce, 2 pins (accepts more, and refuses more)"
            #expect(told.errors.contains(line) && told.errors.contains("with --live"), "\(told)")
        }
    }

    @Test("a month later all installations have the new list: all is well")
    func monthLaterAllInstallationsHaveTheNewListAllIsWell() async throws {
        try await self.withProject { scene, live in
            try scene.addPin()
            #expect(try await scene.release(daysAgo: 31).exitCode == 0)
            let lint = try await CommandRun.tumbler(["lint", "--json"] + live, in: scene.folder)
            let findings: [Finding] = try lint.decoded()
            #expect(findings.isEmpty && lint.exitCode == 0)
            #expect(lint.errors.contains("by propagation (30d)"), "\(lint)")
            let probe = try await self.probe(scene)
            probe.expectResult()
            #expect(probe.lines.first?.hasPrefix("ok ") == true, "\(probe)")
        }
    }

    @Test(
        "what the service counted decides, and not the time that has passed",
        arguments: [
            (#""versions":{"1":20,"2":980}"#, 1), (#""versions":{"1":10,"2":990}"#, 0), (#""versions":{"2":900}"#, 1),
        ] as [(String, Int32)])
    func whatTheServiceCountedDecidesAndNotTheTimeThatHasPassed(versions: String, exit: Int32) async throws {
        let answer = #"{"state":"measured","period":86400,"requests":1000,\#(versions),"unknown":0}"#
        try await RecordingService.with({ request in
            request.path.hasSuffix("/adoption") ? .json(200, answer) : .says(404, [:], "")
        }) { service in
            try await self.withProject { scene, live in
                try scene.addPin()
                #expect(try await scene.release(daysAgo: 50).exitCode == 0)
                let server = ["--server", service.address]
                let lint = try await CommandRun.tumbler(["lint"] + live + server, in: scene.folder)
                #expect(lint.exitCode == exit, "\(lint)")
                #expect(lint.lines.first?.hasPrefix("by measured adoption (1000 requests in 1d)") == true, "\(lint)")
                let probe = try await self.probe(scene, server)
                #expect(probe.exitCode == exit, "\(probe)")
                #expect(service.requests("GET").allSatisfy { $0.path == "/v1/lists/com.example.app/adoption" })
            }
        }
    }

    @Test(
        "a service that has not measured, cannot be asked or says odd things has measured nothing; why is said",
        arguments: [
            RecordingService.Answer.json(200, #"{"state":"not-measured","why":"12 requests are too few"}"#),
            .json(200, "{}"), .json(200, "[]"), .says(200, [:], "<html>"), .problem(403, "wrong-scope", "no"),
            .says(404, [:], ""), .cut, .endless,
            .json(200, #"{"state":"measured","period":86400,"requests":1000,"versions":{"2":1001}}"#),
            .json(200, #"{"state":"measured","period":86400,"requests":1000,"versions":{"2":-1}}"#),
            .json(200, #"{"state":"measured","period":86400,"requests":299,"versions":{"2":299}}"#),
            .json(200, #"{"state":"measured","period":-1,"requests":1000,"versions":{"2":1000}}"#),
            .json(200, #"{"state":"measured","period":86400,"requests":1e300,"versions":{"2":1000}}"#),
        ])
    func serviceThatHasNotMeasuredCannotBeAskedOrSaysOddThingsHasMeasuredNothing(answer: RecordingService.Answer)
        async throws
    {
        try await RecordingService.with({ _ in answer }) { service in
            try await withTemporaryFolder { folder in
                let setUp = try await CommandRun.tumbler(
                    [
                        "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain",
                        "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
                    ], in: folder)
                #expect(setUp.exitCode == 0, "\(setUp)")
                let lint = try await CommandRun.tumbler(
                    ["lint", "-C", "project", "--server", service.address], in: folder)
                #expect(lint.exitCode == 0, "\(lint)")
                let first = try #require(lint.lines.first)
                #expect(first.hasPrefix("by propagation (30d), not by measured adoption ("), "\(lint)")
                #expect(first.hasSuffix("installations may hold version 1"), "\(lint)")
            }
        }
    }

    @Test("lists/ has each list as it went out, and when; a list that is only signed has no time yet")
    func listsHasEachListAsItWentOutAndWhenAListThatIsOnlySignedHasNoTimeYet() async throws {
        try await self.withProject { scene, _ in
            #expect(try await scene.release(daysAgo: 2).exitCode == 0)
            let project = scene.folder.appendingPathComponent("project")
            #expect(try project.contents(of: "lists/2.json") == project.contents(of: "pins.json"))
            #expect(
                try project.text(of: "lists/published.jsonl").split(separator: "\n").map { String($0.prefix(13)) }
                    == [#"{"version":1,"#, #"{"version":2,"#])
            let digest = Envelope.digest(of: Array(try project.contents(of: "pins.json")))
            #expect(
                try project.text(of: "lists/published.jsonl").contains(
                    #"{"version":2,"digest":"\#(digest)","at":"\#(ProbeScene.time(2))"}"#))
            let signed = try await CommandRun.shell(
                #"cd project && "$0" build -o list.payload && "$0" sign list.payload --yes -o pins.json"#,
                in: scene.folder)
            #expect(signed.exitCode == 0, "\(signed)")
            #expect(try project.contents(of: "lists/3.json") == project.contents(of: "pins.json"))
            #expect(try !project.text(of: "lists/published.jsonl").contains(#""version":3"#))
            for _ in 0..<2 {
                let export = try await CommandRun.tumbler(["export", "www", "-C", "project"], in: scene.folder)
                #expect(export.exitCode == 0, "\(export)")
            }
            let lines = try project.text(of: "lists/published.jsonl").split(separator: "\n")
            #expect(lines.count == 3 && lines.last?.hasPrefix(#"{"version":3,"#) == true)
        }
    }

    @Test("a release from a machine whose clock is behind is refused, and so is the export of such a list")
    func releaseFromAMachineWhoseClockIsBehindIsRefusedAndSoIsTheExportOfSuchAList() async throws {
        try await self.withProject { scene, _ in
            #expect(try await scene.release(daysAgo: 2).exitCode == 0)
            let list = try scene.folder.contents(of: "project/pins.json")
            let late = try await scene.release(daysAgo: 5)
            late.expectError(1, hint: true)
            #expect(late.errors.contains("a clock is wrong") && late.errors.contains("--at"), "\(late)")
            #expect(try scene.folder.contents(of: "project/pins.json") == list)
            let signed = try await CommandRun.shell(
                #"""
                cd project && "$0" build --at \#(ProbeScene.time(5)) -o list.payload &&                 "$0" sign list.payload --yes -o pins.json
                """#, in: scene.folder)
            #expect(signed.exitCode == 0, "\(signed)")
            let export = ["export", "www", "-C", "project", "--at"]
            try await CommandRun.tumbler(export + [ProbeScene.time(5)], in: scene.folder).expectError(1, hint: true)
            let path = "www/v1/lists/com.example.app/pins.json"
            #expect(try scene.folder.contents(of: path) == list)
            try await CommandRun.tumbler(export + [ProbeScene.time(0)], in: scene.folder).expectResult()
            #expect(try scene.folder.contents(of: path) != list)
        }
    }

    @Test("a second list of a version is neither signed nor released, and says which file it would have to replace")
    func secondListOfAVersionIsNeitherSignedNorReleased() async throws {
        try await self.withProject { scene, _ in
            let before = try scene.folder.contents(of: "project/lists/1.json")
            let other = try await CommandRun.shell(
                #"""
                cd project && mv pins.json kept.json && "$0" build -o list.payload >/dev/null || exit 9
                "$0" sign list.payload --yes -o pins.json
                """#, in: scene.folder)
            other.expectError(1, hint: true)
            #expect(other.errors.contains("lists/1.json is another list of version 1"), "\(other)")
            #expect(try await scene.release(daysAgo: 1).exitCode == 1)
            let project = scene.folder.appendingPathComponent("project")
            #expect(!FileManager.default.fileExists(atPath: project.appendingPathComponent("pins.json").path))
            #expect(try scene.folder.contents(of: "project/lists/1.json") == before)
        }
    }

    @Test("less than 30 days are a warning without a measurement")
    func lessThan30DaysAreAWarningWithoutAMeasurement() async throws {
        try await self.withProject(propagation: "14d") { scene, _ in
            let lint = try await CommandRun.tumbler(["lint", "-C", "project"], in: scene.folder)
            #expect(lint.exitCode == 0 && lint.output.contains("warning: propagation-short: list (14d)"), "\(lint)")
            let release = try await scene.release(daysAgo: 1)
            #expect(release.exitCode == 0 && release.errors.contains("propagation-short"), "\(release)")
            #expect(release.errors.contains("by propagation (14d), not by measured adoption"), "\(release)")
        }
    }
}
