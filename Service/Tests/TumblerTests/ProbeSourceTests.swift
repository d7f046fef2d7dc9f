// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import Testing

@Suite("The input, memory and output of probe")
struct ProbeSourceTests {
    /// Makes a project out of the scene's list.
    private func makeProject(_ scene: ProbeScene, server: String = "https://pins.example.com") throws {
        try scene.publish()
        let project = scene.folder.appendingPathComponent("project")
        try FileManager.default.createDirectory(
            at: project.appendingPathComponent("root"), withIntermediateDirectories: true)
        try project.write(ProjectText.good + "server: \(server)\n", as: "tumbler.yaml")
        try project.write(try scene.folder.contents(of: "root.json"), as: "root/1.json")
        try project.write(try scene.folder.contents(of: "bundled.json"), as: "pins.json")
    }

    private func probeProject(_ scene: ProbeScene, _ more: [String] = []) async throws -> CommandRun {
        try await CommandRun.tumbler(
            [
                "probe", "-C", "project", "--roots", "anchors.pem", "--connect-to",
                "::127.0.0.1:\(scene.server.port)",
            ] + more, in: scene.folder)
    }

    @Test("the project's list, verified by its roots; what was seen is kept where git does not look")
    func projectsListVerifiedByItsRootsWhatWasSeenIsKeptWhereGitDoesNotLook() async throws {
        try await ProbeScene.with { scene in
            try self.makeProject(scene)
            try await self.probeProject(scene).expectResult()
            let kept = try scene.folder.text(of: "project/.tumbler/probe.json")
            #expect(kept.contains("api.example.com"))
            #expect(try scene.folder.text(of: "project/.tumbler/.gitignore") == "*\n")
            let second: PrintedProbe = try await self.probeProject(scene, ["--json"]).decoded()
            #expect(second.hosts.map(\.issuerChanged) == [false])
            let other = try await self.probeProject(scene, ["--previous", "elsewhere.json", "--json"])
            let first: PrintedProbe = try other.decoded()
            #expect(first.hosts.map(\.issuerChanged) == [nil])
            #expect(try scene.folder.text(of: "elsewhere.json").contains("api.example.com"))
        }
    }

    @Test(
        "a link in a checkout leads a probe to no other file of the user: nothing is read or written there",
        arguments: [".tumbler/probe.json", ".tumbler"])
    func linkInACheckoutLeadsAProbeToNoOtherFileOfTheUser(link: String) async throws {
        try await ProbeScene.with { scene in
            try self.makeProject(scene)
            let victim = scene.folder.appendingPathComponent("victim")
            try FileManager.default.createDirectory(at: victim, withIntermediateDirectories: true)
            try victim.write("ssh-ed25519 AAAA", as: "probe.json")
            let place = scene.folder.appendingPathComponent("project/\(link)")
            let isFolder = link == ".tumbler"
            if !isFolder {
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                atPath: place.path, withDestinationPath: isFolder ? "../victim" : "../../victim/probe.json")
            let run = try await self.probeProject(scene)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("may lead out of the project"), "\(run)")
            #expect(try victim.text(of: "probe.json") == "ssh-ed25519 AAAA")
            #expect(try FileManager.default.contentsOfDirectory(atPath: victim.path) == ["probe.json"])
        }
    }

    @Test("a list that its roots do not hold is not believed; without roots it is, and that is said")
    func listThatItsRootsDoNotHoldIsNotBelievedWithoutRootsItIsAndThatIsSaid() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            func probe(_ options: [String]) async throws -> CommandRun {
                try await CommandRun.tumbler(
                    ["probe", "--roots", "anchors.pem", "--connect-to", "::127.0.0.1:\(scene.server.port)"] + options,
                    in: scene.folder)
            }
            let trusting = try await probe(["bundled.json"])
            #expect(trusting.exitCode == 0 && trusting.errors.contains("no root verifies"), "\(trusting)")
            let text = try scene.folder.text(of: "bundled.json")
            try scene.folder.write(text.replacing(#""sig":""#, with: #""sig":"AAAA"#), as: "forged.json")
            try await probe(["forged.json", "--root", "root.json"]).expectError(2)
            try await probe(["missing.json", "--root", "root.json"]).expectError(2)
            try await probe([]).expectError(2, hint: true)
        }
    }

    @Test("a list at an address", .enabled(if: ServedLists.python != nil, "python3 is not installed"))
    func listAtAnAddress() async throws {
        try await ProbeScene.with { scene in
            let lists = try ServedLists(
                in: scene.folder, at: Timestamp(secondsSince1970: TestPKI.now), domains: [try scene.entry()])
            try await lists.serving { address in
                let run = try await CommandRun.tumbler(
                    [
                        "probe", address, "--root", "root.json", "--roots", "anchors.pem", "--connect-to",
                        "::127.0.0.1:\(scene.server.port)",
                    ], in: scene.folder)
                run.expectResult()
            }
        }
    }

    @Test("a damaged memory is said and written anew; one that cannot be written is said")
    func damagedMemoryIsSaidAndWrittenAnewOneThatCannotBeWrittenIsSaid() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            for rubbish in ["rubbish", "{}", #"{"schema": 2, "hosts": {}}"#, String(repeating: "[", count: 100_000)] {
                try scene.folder.write(rubbish, as: "previous.json")
                let run = try await scene.probe()
                #expect(run.exitCode == 0 && run.errors.contains("previous.json"), "\(run)")
                try await scene.probe().expectResult()
            }
            let run = try await scene.probe(["--previous", "anchors.pem/x.json"])
            #expect(run.exitCode == 0 && run.errors.hasPrefix("tumbler: warning: "), "\(run)")
        }
    }

    @Test("--push sends what --json prints, with the token, to the name of the list")
    func pushSendsWhatJsonPrintsWithTheTokenToTheNameOfTheList() async throws {
        try await ProbeScene.with { scene in
            try scene.folder.writeToken()
            try await RecordingService.with({ _ in .says(202, [:], "") }) { service in
                try self.makeProject(scene, server: service.address)
                let run = try await self.probeProject(scene, ["--push", "--token-file", "token", "--json"])
                run.expectResult()
                // Before it the service is asked which lists installations hold.
                #expect(service.requests.map(\.method) == ["GET", "POST"])
                let request = try #require(service.requests.last)
                #expect(request.path == "/v1/lists/com.example.app/probe")
                #expect(request.headers["Authorization"] == ["Bearer tumbler_0123456789abcdef_00ff"])
                #expect(request.headers["Content-Type"] == ["application/json"])
                #expect(Data(request.body) + Data("\n".utf8) == run.outputBytes)
            }
        }
    }

    @Test(
        "a result that is not taken is printed all the same, and ends with 2; one that locks out ends with 1",
        arguments: [
            RecordingService.Answer.problem(401, "unauthorized", "no"), .problem(503, "unavailable", "no"),
            .says(200, [:], ""), .says(302, ["Location": "/"], ""), .cut, .endless,
        ])
    func resultThatIsNotTakenIsPrintedAllTheSameAndEndsWith2OneThatLocksOutEndsWith1(answer: RecordingService.Answer)
        async throws
    {
        try await ProbeScene.with { scene in
            try scene.publish()
            try scene.folder.writeToken()
            try await RecordingService.with({ _ in answer }) { service in
                let push = ["--push", "--server", service.address, "--token-file", "token"]
                let run = try await scene.probe(push)
                #expect(run.exitCode == 2 && run.output.hasPrefix("ok "), "\(run)")
                #expect(run.errors.hasPrefix("tumbler: error: "), "\(run)")
                try scene.publish([try scene.entry(ProbeScene.host, [ProbeScene.backup])])
                #expect(try await scene.probe(push).exitCode == 1)
            }
        }
    }

    @Test("a missing part for sending is said before any host is asked")
    func missingPartForSendingIsSaidBeforeAnyHostIsAsked() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            try await scene.probe(["--push"]).expectError(64, hint: true)
            try await scene.probe(["--push", "--server", "https://pins.example.com"]).expectError(64, hint: true)
            try await scene.probe(["--within", "30"]).expectError(64)
            try await scene.probe(["--host", "a..b"]).expectError(64)
            #expect(scene.server.counts.connections == 0)
        }
    }

    @Test("--at decides as of another time")
    func atDecidesAsOfAnotherTime() async throws {
        try await ProbeScene.with { scene in
            try scene.publish()
            let later = Timestamp(secondsSince1970: TestPKI.now + 70 * 86_400)
            let run = try await scene.probe(["--at", later.description])
            #expect(run.exitCode == 1 && run.output.hasPrefix("ENDS "), "\(run)")
            #expect(run.errors.contains("the list expired"), "\(run)")
        }
    }
}
