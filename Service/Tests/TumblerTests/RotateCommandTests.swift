// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import NIOSSL
import Testing
import X509

@Suite("A rotation on the command line")
struct RotateCommandTests {
    private static let path = "project/rotations/api.example.com.yaml"

    /// One moment for all: the tests take their time. Certificates hold for 90 days from now.
    private static let now = ProbeScene.now

    private static func time(_ day: Int64) -> String {
        Timestamp(secondsSince1970: self.now + day * 86_400).description
    }

    /// A project, a server with the old key and one with the new key.
    private struct Scene {
        let scene: ProbeScene
        let new: Pin
        let newLeaf: TestCertificate
        let newPort: Int

        var oldPort: Int { self.scene.server.port }

        /// Runs `tumbler rotate` on a day, with servers at some ports; what is released goes into a folder.
        func rotate(
            _ command: String, day: Int64, at ports: [Int], _ more: [String] = [], export: String? = "www"
        ) async throws -> CommandRun {
            var arguments = [
                "rotate", command, "api.example.com", "-C", "project", "--at", RotateCommandTests.time(day),
            ]
            arguments += ["--roots", "anchors.pem"]
            for port in ports { arguments += ["--connect-to", "api.example.com:443:127.0.0.1:\(port)"] }
            if let export, ["next", "abort"].contains(command) { arguments += ["--export", export] }
            return try await CommandRun.tumbler(arguments + more, in: self.scene.folder)
        }

        /// Makes a folder of a static host in which no list can be written.
        func blockExport(to name: String) throws {
            let list = self.scene.folder.appendingPathComponent("\(name)/v1/lists/com.example.app/pins.json")
            try FileManager.default.createDirectory(at: list, withIntermediateDirectories: true)
        }

        var plan: String { get throws { try self.scene.folder.text(of: RotateCommandTests.path) } }
        var source: String { get throws { try self.scene.folder.text(of: "project/tumbler.yaml") } }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await ProbeScene.with { scene in
            let leaf = try ProbeScene.leaf(by: scene.pki.intermediate)
            let identity = try LoopbackServer.Identity([leaf, scene.pki.intermediate])
            try await LoopbackServer.with(identity) { server in
                try await scene.makeProject(["\(try scene.pki.leaf.pin)", ProjectText.pin("b")], daysAgo: 0)
                try await body(Scene(scene: scene, new: try leaf.pin, newLeaf: leaf, newPort: server.port))
            }
        }
    }

    @Test("60 days: planned, announced, ready, switched, retired; each gate that does not hold stops it")
    func of60DaysPlannedAnnouncedReadySwitchedRetiredEachGateThatDoesNotHoldStopsIt() async throws {
        try await self.withScene { scene in
            let (old, new) = (scene.oldPort, scene.newPort)
            let pin = ["--pin", "\(scene.new)", "--kept", "HSM: slot 3", "--held-by", "Ann", "--held-by", "Bob"]
            let planned = try await scene.rotate("plan", day: 0, at: [old], pin)
            #expect(planned.exitCode == 0, "\(planned)")
            #expect(planned.lines.first == "planned: rotations/api.example.com.yaml")
            #expect(try scene.plan.contains("kept: \"HSM: slot 3\""))
            #expect(try scene.plan.contains("switchAt: \(Self.time(30))"))
            try await scene.rotate("plan", day: 0, at: [old], pin).expectError(1, hint: true)

            let announced = try await scene.rotate("next", day: 0, at: [old], ["--yes"])
            #expect(announced.exitCode == 0, "\(announced)")
            #expect(announced.lines == ["api.example.com: planned, now announced, with version 2 of the list"])
            #expect(try scene.source.contains("\(scene.new)"))

            // Version 1 may still be held, and refuses the new key.
            try await scene.rotate("next", day: 1, at: [old]).expectError(2, hint: true)
            // A service deploys too early: status says where.
            let early = try await scene.rotate("status", day: 2, at: [old, new])
            #expect(early.exitCode == 0 && early.output.contains("127.0.0.1:\(new)"), "\(early)")

            let ready = try await scene.rotate("next", day: 31, at: [old])
            #expect(ready.lines == ["api.example.com: announced, now ready"], "\(ready)")
            try await scene.rotate("next", day: 31, at: [old]).expectError(1, hint: true)
            try await scene.rotate("next", day: 32, at: [new, old]).expectError(1, hint: true)
            try await scene.rotate("next", day: 32, at: [], ["--no-look"]).expectError(1, hint: true)

            let switched = try await scene.rotate("next", day: 32, at: [new, new])
            #expect(switched.lines == ["api.example.com: ready, now switched"], "\(switched)")
            try await scene.rotate("next", day: 33, at: [new]).expectError(1, hint: true)
            // The old key came back at one address, and went again: the 14 days begin anew.
            #expect(try await scene.rotate("status", day: 39, at: [new, old]).exitCode == 0)
            for day: Int64 in [40, 47] { #expect(try await scene.rotate("status", day: day, at: [new]).exitCode == 0) }
            try await scene.rotate("next", day: 53, at: [new]).expectError(1, hint: true)
            // An address that does not answer may serve anything.
            let status = try await scene.rotate("status", day: 54, at: [new], ["--json"])
            #expect(status.exitCode == 0 && status.output.contains("\"gate\":\"holds\""), "\(status)")
            let page = try await scene.rotate("status", day: 54, at: [new], ["--checklist", "page.md"])
            #expect(page.exitCode == 0, "\(page)")
            #expect(try scene.scene.folder.text(of: "page.md").contains("- [x] the gate says safe, \(Self.time(31))"))

            // A list without the old pin that no folder got retires nothing, however often the step is tried.
            try scene.blockExport(to: "blocked")
            for _ in 0..<2 {
                let failed = try await scene.rotate("next", day: 59, at: [new], ["--yes"], export: "blocked")
                #expect(failed.exitCode == 2 && failed.errors.contains("nothing was written"), "\(failed)")
                #expect(try scene.source.contains("\(scene.scene.pki.leaf.pin)"))
            }
            let retired = try await scene.rotate("next", day: 59, at: [new], ["--yes"])
            #expect(retired.exitCode == 0, "\(retired)")
            #expect(retired.lines == ["api.example.com: switched, now retired, with version 3 of the list"])
            #expect(try !scene.source.contains("\(scene.scene.pki.leaf.pin)"))
            #expect(try scene.source.contains("\(scene.new)") && scene.source.contains(ProjectText.pin("b")))
            try await scene.rotate("next", day: 60, at: [new]).expectError(1)
            try await scene.rotate("abort", day: 60, at: [new]).expectError(1)
        }
    }

    @Test("a list that no folder got announces nothing, however many days go by; once it is exported the step is done")
    func listThatNoFolderGotAnnouncesNothing() async throws {
        try await self.withScene { scene in
            let look = [scene.oldPort]
            try await scene.scene.export(daysAgo: 0)
            #expect(try await scene.rotate("plan", day: 0, at: look, ["--pin", "\(scene.new)"]).exitCode == 0)
            let plan = try scene.plan
            for day: Int64 in [0, 31] {
                let next = try await scene.rotate("next", day: day, at: look, ["--yes"], export: nil)
                #expect(next.exitCode == 2 && next.output.isEmpty, "\(next)")
                #expect(next.errors.contains("released and not out yet; the plan is still planned"), "\(next)")
                #expect(
                    next.errors.contains("hint: tumbler export DIR, and upload it, then tumbler rotate next"), "\(next)"
                )
                #expect(try scene.plan == plan)
            }
            #expect(try scene.source.contains("\(scene.new)"))
            let export = ["export", "www", "-C", "project", "--at", Self.time(31)]
            try await CommandRun.tumbler(export, in: scene.scene.folder).expectResult()
            let announced = try await scene.rotate("next", day: 31, at: look, export: nil)
            #expect(announced.lines == ["api.example.com: planned, now announced"], "\(announced)")
            // Who fetched nothing since holds version 1.
            try await scene.rotate("next", day: 32, at: look).expectError(2, hint: true)
        }
    }

    @Test("an export that fails leaves the rotation planned, and the repeated step does not take it for published")
    func exportThatFailsLeavesTheRotationPlannedAndTheRepeatedStepDoesNotTakeItForPublished() async throws {
        try await self.withScene { scene in
            let look = [scene.oldPort]
            #expect(try await scene.rotate("plan", day: 0, at: look, ["--pin", "\(scene.new)"]).exitCode == 0)
            let (plan, source) = (try scene.plan, try scene.source)
            try scene.blockExport(to: "blocked")
            for _ in 0..<2 {
                let failed = try await scene.rotate("next", day: 0, at: look, ["--yes"], export: "blocked")
                #expect(failed.exitCode == 2 && failed.errors.contains("nothing was written"), "\(failed)")
                #expect(try scene.source == source && scene.plan == plan)
            }
            let announced = try await scene.rotate("next", day: 0, at: look, ["--yes"])
            #expect(
                announced.lines == ["api.example.com: planned, now announced, with version 2 of the list"],
                "\(announced)")
        }
    }

    @Test("a list with the new pin that was signed and went nowhere is not published: the step releases another one")
    func listWithTheNewPinThatWasSignedAndWentNowhereIsNotPublished() async throws {
        try await self.withScene { scene in
            let look = [scene.oldPort]
            #expect(try await scene.rotate("plan", day: 0, at: look, ["--pin", "\(scene.new)"]).exitCode == 0)
            try scene.scene.addPin(scene.new)
            let signed = try await CommandRun.shell(
                #"""
                cd project && "$0" build --at \#(Self.time(0)) -o list.payload &&                 "$0" sign list.payload --yes -o pins.json
                """#, in: scene.scene.folder)
            #expect(signed.exitCode == 0, "\(signed)")
            let announced = try await scene.rotate("next", day: 0, at: look, ["--yes"])
            #expect(
                announced.lines == ["api.example.com: planned, now announced, with version 3 of the list"],
                "\(announced)")
        }
    }

    @Test("aborted, the new pin goes, but not while a server presents the new key or does not answer")
    func abortedTheNewPinGoesButNotWhileAServerPresentsTheNewKeyOrDoesNotAnswer() async throws {
        try await self.withScene { scene in
            let before = try scene.source
            let planned = try await scene.rotate("plan", day: 0, at: [scene.oldPort], ["--pin", "\(scene.new)"])
            #expect(planned.exitCode == 0, "\(planned)")
            #expect(try await scene.rotate("next", day: 0, at: [scene.oldPort], ["--yes"]).exitCode == 0)
            try await scene.rotate("abort", day: 1, at: [scene.oldPort, scene.newPort], ["--yes"]).expectError(
                1, hint: true)
            try await scene.rotate("abort", day: 1, at: [], ["--no-look", "--yes"]).expectError(2, hint: true)
            let aborted = try await scene.rotate("abort", day: 1, at: [scene.oldPort], ["--yes"])
            #expect(aborted.exitCode == 0, "\(aborted)")
            #expect(aborted.lines == ["api.example.com: aborted; version 3 of the list is without the new pin"])
            #expect(try scene.source == before)
        }
    }

    @Test(
        "an abort that was interrupted before its release is not done by the next one: the pin of a stolen key goes out"
    )
    func abortInterruptedBeforeItsReleaseIsNotDoneByTheNextOneThePinOfAStolenKeyGoesOut() async throws {
        try await self.withScene { scene in
            let before = try scene.source
            let planned = try await scene.rotate("plan", day: 0, at: [scene.oldPort], ["--pin", "\(scene.new)"])
            #expect(planned.exitCode == 0, "\(planned)")
            #expect(try await scene.rotate("next", day: 0, at: [scene.oldPort], ["--yes"]).exitCode == 0)
            // The source is edited, and the list of before is still out.
            try scene.scene.folder.write(before, as: "project/tumbler.yaml")
            try await scene.rotate("abort", day: 1, at: [], ["--no-look", "--yes"]).expectError(2, hint: true)
            try await scene.rotate("abort", day: 1, at: [scene.newPort], ["--yes"]).expectError(1, hint: true)
            #expect(try scene.plan.contains("state: announced") && !scene.plan.contains("state: aborted"))
            let aborted = try await scene.rotate("abort", day: 1, at: [scene.oldPort], ["--yes"])
            #expect(aborted.lines == ["api.example.com: aborted; version 3 of the list is without the new pin"])
            #expect(try scene.source == before)
        }
    }

    @Test("the hosts of a pin set go together: a forgotten server of another entry is not locked out")
    func hostsOfAPinSetGoTogetherAForgottenServerOfAnotherEntryIsNotLockedOut() async throws {
        try await self.withScene { scene in
            let issuer = scene.scene.pki.intermediate
            let head = try #require(try scene.source.components(separatedBy: "domains:").first)
            let set = """
                pinSets: {edge: [{pin: "\(try scene.scene.pki.leaf.pin)"}, {pin: "\(ProjectText.pin("b"))"}]}
                domains:
                  - {domain: api.example.com, mode: enforce, use: [edge]}
                  - {domain: www.example.com, mode: enforce, use: [edge]}

                """
            try scene.scene.folder.write(head + set, as: "project/tumbler.yaml")
            let name = "www.example.com"
            let oldLeaf = try ProbeScene.leaf(by: issuer, name: name, key: scene.scene.pki.leaf)
            let newLeaf = try ProbeScene.leaf(by: issuer, name: name, key: scene.newLeaf)
            try await LoopbackServer.with(LoopbackServer.Identity([oldLeaf, issuer])) { oldServer in
                try await LoopbackServer.with(LoopbackServer.Identity([newLeaf, issuer])) { newServer in
                    let forgotten = ["--connect-to", "\(name):443:127.0.0.1:\(oldServer.port)", "--yes"]
                    let deployed = ["--connect-to", "\(name):443:127.0.0.1:\(newServer.port)", "--yes"]
                    let (old, new) = ([scene.oldPort], [scene.newPort])
                    let pin = ["--pin", "\(scene.new)", "--old", "\(try scene.scene.pki.leaf.pin)"]
                    let planned = try await scene.rotate("plan", day: 0, at: old, pin)
                    #expect(planned.exitCode == 0 && planned.output.contains("pin set edge"), "\(planned)")
                    #expect(try await scene.rotate("next", day: 0, at: old, forgotten).exitCode == 0)
                    // One host of the two serves the new key already: its pin stays.
                    try await scene.rotate("abort", day: 1, at: old, deployed).expectError(1, hint: true)
                    #expect(try await scene.rotate("next", day: 31, at: old, forgotten).exitCode == 0)
                    let early = try await scene.rotate("next", day: 32, at: new, forgotten)
                    early.expectError(1, hint: true)
                    #expect(early.errors.contains("\(name) (127.0.0.1:\(oldServer.port))"), "\(early)")
                    #expect(try await scene.rotate("next", day: 32, at: new, deployed).exitCode == 0)
                    for day: Int64 in [39, 46] {
                        let probe = try await CommandRun.tumbler(
                            [
                                "probe", "-C", "project", "--at", Self.time(day), "--roots", "anchors.pem",
                                "--connect-to", "api.example.com:443:127.0.0.1:\(scene.newPort)",
                            ] + forgotten.dropLast(), in: scene.scene.folder)
                        #expect(probe.exitCode == 0, "\(probe)")
                    }
                    // No look at www.example.com saw the new key since.
                    try await scene.rotate("next", day: 47, at: new, deployed).expectError(1, hint: true)
                    for day: Int64 in [54, 60] {
                        let status = try await scene.rotate("status", day: day, at: new, Array(deployed.dropLast()))
                        #expect(status.exitCode == 0, "\(status)")
                    }
                    let retired = try await scene.rotate("next", day: 62, at: new, deployed)
                    #expect(retired.exitCode == 0, "\(retired)")
                }
            }
        }
    }

    @Test("a forced step is in the plan with its reason, and names the state that it leaves")
    func forcedStepIsInThePlanWithItsReasonAndNamesTheStateThatItLeaves() async throws {
        try await self.withScene { scene in
            let look = [scene.oldPort]
            #expect(try await scene.rotate("plan", day: 0, at: look, ["--pin", "\(scene.new)"]).exitCode == 0)
            #expect(try await scene.rotate("next", day: 0, at: look, ["--yes"]).exitCode == 0)
            let plan = try scene.plan
            let force = ["--reason", "incident 4711", "--force"]
            try await scene.rotate("next", day: 1, at: look, force + ["ready"]).expectError(1, hint: true)
            try await scene.rotate("next", day: 1, at: look, ["--force", "announced"]).expectError(64)
            #expect(try scene.plan == plan)
            let forced = try await scene.rotate("next", day: 1, at: look, force + ["announced"])
            #expect(forced.lines == ["api.example.com: announced, now ready, forced: incident 4711"], "\(forced)")
            #expect(try scene.plan.contains("forced: \"incident 4711\""))
            // The gate is not safe: the next step leads back.
            let back = try await scene.rotate("next", day: 2, at: look)
            #expect(back.exitCode == 1 && back.output.contains("ready, now announced"), "\(back)")
            #expect(back.errors.contains("warning: api.example.com: the gate is no longer safe"), "\(back)")
            // Without a service the plan stays on this machine.
            let status = try await scene.rotate("status", day: 3, at: look)
            let alarm = "  ALARM: it was ready, and went back at \(Self.time(2)): the gate is no longer safe"
            #expect(status.lines.contains { $0.hasPrefix(alarm) }, "\(status)")
        }
    }

    @Test("the pin of another entry, a denied key, and no backup afterwards are not planned")
    func pinOfAnotherEntryADeniedKeyAndNoBackupAfterwardsAreNotPlanned() async throws {
        try await withTemporaryFolder { folder in
            let other =
                "  - {domain: www.example.net, pins: [{pin: \"\(ProjectText.pin("c"))\"}, {pin: \"\(ProjectText.pin("d"))\"}]}\n"
            let source = ProjectText.good + other + "denied: [\"\(ProjectText.pin("e"))\"]\n"
            try folder.write(source, as: "tumbler.yaml")
            let old = ["--old", ProjectText.pin("a"), "--no-look", "--at", Self.time(0)]
            for (letter, code) in [("c", Int32(1)), ("e", 1), ("a", 1), ("b", 1)] as [(Character, Int32)] {
                let run = try await CommandRun.tumbler(
                    ["rotate", "plan", "api.example.com", "--pin", ProjectText.pin(letter)] + old, in: folder)
                run.expectError(code, hint: true)
            }
            try await CommandRun.tumbler(
                ["rotate", "plan", "api.example.com", "--pin", ProjectText.pin("f"), "--no-look"], in: folder
            ).expectError(2, hint: true)
            try await CommandRun.tumbler(["rotate", "plan", "api.example.com"] + old, in: folder).expectError(64)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("rotations").path))
            #expect(try folder.text(of: "tumbler.yaml") == source)
            let shared = try await CommandRun.tumbler(
                ["rotate", "plan", "api.example.com", "--shared", "--pin", ProjectText.pin("c")] + old, in: folder)
            #expect(shared.exitCode == 0, "\(shared)")
        }
    }

    @Test("a slower command gets an error of the service, and nothing is written")
    func slowerCommandGetsAnErrorOfTheServiceAndNothingIsWritten() async throws {
        for (status, code) in [(412, Int32(1)), (201, 0)] {
            try await RecordingService.with({ request in
                request.method == "PUT"
                    ? (status == 412 ? .problem(412, "changed", "another one") : .says(201, ["ETag": "\"x\""], ""))
                    : .says(404, [:], "")
            }) { service in
                try await withTemporaryFolder { folder in
                    try folder.write(ProjectText.good, as: "tumbler.yaml")
                    try folder.writeToken()
                    let run = try await CommandRun.tumbler(
                        [
                            "rotate", "plan", "api.example.com", "--old", ProjectText.pin("a"), "--pin",
                            ProjectText.pin("f"), "--no-look", "--server", service.address, "--token-file", "token",
                        ], in: folder)
                    #expect(run.exitCode == code, "\(run)")
                    let put = try #require(service.requests("PUT").first)
                    #expect(put.path == "/v1/lists/com.example.app/rotations/api.example.com")
                    #expect(put.headers.first(name: "If-None-Match") == "*")
                    let file = folder.appendingPathComponent("rotations/api.example.com.yaml").path
                    #expect(FileManager.default.fileExists(atPath: file) == (code == 0))
                }
            }
        }
    }

    @Test("two plans for one pin set: the second is not planned, and where both are there neither goes on")
    func twoPlansForOnePinSetTheSecondIsNotPlannedAndWhereBothAreThereNeitherGoesOn() async throws {
        try await withTemporaryFolder { folder in
            let source = """
                name: com.example.app
                reportTo: [https://reports.example.net/v1]
                pinSets:
                  edge: [{pin: "\(ProjectText.pin("a"))"}, {pin: "\(ProjectText.pin("b"))"}]
                domains:
                  - {domain: api.example.com, use: [edge]}
                  - {domain: pay.example.com, use: [edge]}

                """
            try folder.write(source, as: "tumbler.yaml")
            func plan(_ host: String, _ letter: Character) async throws -> CommandRun {
                try await CommandRun.tumbler(
                    [
                        "rotate", "plan", host, "--no-look", "--old", ProjectText.pin("a"), "--pin",
                        ProjectText.pin(letter), "--at", Self.time(0),
                    ], in: folder)
            }
            let first = try await plan("api.example.com", "f")
            #expect(first.exitCode == 0, "\(first)")
            let second = try await plan("pay.example.com", "g")
            second.expectError(1, hint: true)
            #expect(second.errors.contains("rotations/api.example.com.yaml concerns the same entries"), "\(second)")
            // Two branches that were merged.
            let text = try folder.text(of: "rotations/api.example.com.yaml")
            let merged = text.replacing("host: api.", with: "host: pay.").replacing(
                "  - api.example.com\n  - pay.example.com\n", with: "  - pay.example.com\n  - api.example.com\n")
            #expect(merged != text)
            try folder.write(merged, as: "rotations/pay.example.com.yaml")
            for host in ["api.example.com", "pay.example.com"] {
                let next = try await CommandRun.tumbler(
                    ["rotate", "next", host, "--no-look", "--yes", "--at", Self.time(0)], in: folder)
                next.expectError(1, hint: true)
                #expect(next.errors.contains("concerns the same entries"), "\(next)")
            }
            #expect(try folder.text(of: "tumbler.yaml") == source)
            #expect(try folder.text(of: "rotations/api.example.com.yaml") == text)
        }
    }

    @Test("a plan whose entry is gone from the source says so, and its next step is not done")
    func planWhoseEntryIsGoneFromTheSourceSaysSoAndItsNextStepIsNotDone() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let planned = try await CommandRun.tumbler(
                [
                    "rotate", "plan", "api.example.com", "--no-look", "--old", ProjectText.pin("a"), "--pin",
                    ProjectText.pin("f"), "--at", Self.time(0),
                ], in: folder)
            #expect(planned.exitCode == 0, "\(planned)")
            let plan = try folder.text(of: "rotations/api.example.com.yaml")
            let source = ProjectText.good.replacing("api.example.com", with: "www.example.com")
            try folder.write(source, as: "tumbler.yaml")
            let rest = ["api.example.com", "--no-look", "--at", Self.time(1)]
            let status = try await CommandRun.tumbler(["rotate", "status"] + rest, in: folder)
            #expect(status.exitCode == 0, "\(status)")
            #expect(status.output.contains("api.example.com has no entry any more"), "\(status)")
            try await CommandRun.tumbler(["rotate", "next"] + rest + ["--yes"], in: folder).expectError(1, hint: true)
            #expect(try folder.text(of: "rotations/api.example.com.yaml") == plan)
            #expect(try folder.text(of: "tumbler.yaml") == source)
        }
    }
}
