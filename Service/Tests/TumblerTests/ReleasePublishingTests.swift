// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import NIOHTTP1
import PinListMetadata
import Testing

@Suite("Releasing onto a service")
struct ReleasePublishingTests {
    /// A service that keeps the list that it is given, as long as the test does not say otherwise.
    private final class Shelf: Sendable {
        let list = NIOLockedValueBox<String?>(nil)
        let override = NIOLockedValueBox<RecordingService.Answer?>(nil)

        func answer(_ request: RecordingService.Request) -> RecordingService.Answer {
            // It keeps no plans of rotations.
            if request.method == "GET", request.path.contains("/rotations") { return .says(404, [:], "") }
            if request.method == "PUT" {
                if let answer = self.override.withLockedValue({ $0 }) { return answer }
                // The last envelope is the list.
                let text = String(decoding: request.body, as: UTF8.self).dropLast()
                let start = text.range(of: #"{"payloadType""#, options: .backwards)?.lowerBound ?? text.startIndex
                self.list.withLockedValue { $0 = String(text[start...]) }
                return .json(200, #"{"name": "com.example.app", "changes": ["list"]}"#)
            }
            return self.list.withLockedValue { $0 }.map { .json(200, $0) } ?? .says(404, [:], "")
        }
    }

    private struct Scene {
        let folder: URL
        let service: RecordingService
        let shelf: Shelf

        func release(
            _ more: [String] = ["--yes"], at time: String = "2026-11-22T00:00:00Z", of checkout: String = "project"
        ) async throws -> CommandRun {
            try await CommandRun.tumbler(
                ["release", "-C", checkout, "--token-file", "token", "--at", time] + more, in: self.folder)
        }

        /// Copies the checkout.
        func copy(to name: String) throws {
            try FileManager.default.copyItem(
                at: self.folder.appendingPathComponent("project"), to: self.folder.appendingPathComponent(name))
        }

        /// Denies a stolen key in the source of the checkout.
        func deny(_ pin: String) throws {
            let source = try self.folder.text(of: "project/tumbler.yaml")
            let edited = source.replacing("denied: []\n", with: "denied: [\"\(pin)\"]\n")
            #expect(edited != source)
            try self.folder.write(edited, as: "project/tumbler.yaml")
        }

        var version: Int64 {
            get throws { try self.list(self.folder.contents(of: "project/pins.json")).version }
        }

        var servedVersion: Int64? {
            get throws { try self.shelf.list.withLockedValue { $0 }.map { try self.list(Data($0.utf8)).version } }
        }

        private func list(_ envelope: Data) throws -> PinList {
            try PinList(payload: Envelope(Array(envelope), of: .pins, limits: MetadataLimits()).payload)
        }
    }

    /// A project at version 1 whose `server:` is a service with nothing in it.
    private func with(_ body: (Scene) async throws -> Void) async throws {
        let shelf = Shelf()
        try await RecordingService.with({ shelf.answer($0) }) { service in
            try await withTemporaryFolder { folder in
                let setUp = try await CommandRun.tumbler(
                    [
                        "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at",
                        "2026-11-21T00:00:00Z", "--domain",
                        "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
                    ], in: folder)
                #expect(setUp.exitCode == 0, "\(setUp)")
                let source = try folder.text(of: "project/tumbler.yaml")
                try folder.write(source + "\nserver: \(service.address)\n", as: "project/tumbler.yaml")
                try folder.writeToken()
                try await body(Scene(folder: folder, service: service, shelf: shelf))
            }
        }
    }

    @Test("the list is written and published with the roots; the next one follows it")
    func listIsWrittenAndPublishedWithTheRootsTheNextOneFollowsIt() async throws {
        try await self.with { scene in
            let run = try await scene.release()
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.lines.last == "published list")
            #expect(try scene.version == 2)
            #expect(try scene.servedVersion == 2)
            let put = try #require(scene.service.requests("PUT").first)
            let expected = try
                "[\(scene.folder.text(of: "project/root/1.json")),\(scene.folder.text(of: "project/pins.json"))]"
            #expect(put.body == Array(expected.utf8))
            // Public paths are asked for without the token; those that need a token, with it.
            for request in scene.service.requests("GET") {
                #expect(request.headers["Authorization"].isEmpty == request.path.hasSuffix(".json"), "\(request.path)")
            }
            let json = try await scene.release(["--yes", "--json"], at: "2026-11-23T00:00:00Z")
            #expect(json.output.contains(#""published":["list"]"#) && json.output.contains(#""version":3"#), "\(json)")
        }
    }

    @Test("an older checkout: the version comes after the served list, which is the one that is compared with")
    func olderCheckoutTheVersionComesAfterTheServedList() async throws {
        try await self.with { scene in
            let old = try scene.folder.contents(of: "project/pins.json")
            #expect(try await scene.release().exitCode == 0)
            #expect(try await scene.release(at: "2026-11-23T00:00:00Z").exitCode == 0)
            try old.write(to: scene.folder.appendingPathComponent("project/pins.json"))
            let run = try await scene.release(at: "2026-11-24T00:00:00Z")
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("pins.json is version 1") && run.errors.contains("serves version 3"), "\(run)")
            #expect(run.errors.contains("against version 3, which is published"), "\(run)")
            #expect(try scene.version == 4)
        }
    }

    @Test("a checkout that is behind does not take back what another operator released, unless that is allowed by name")
    func checkoutThatIsBehindDoesNotTakeBackWhatAnotherOperatorReleased() async throws {
        try await self.with { scene in
            try scene.copy(to: "morning")
            try scene.deny(ProjectText.pin("e"))
            #expect(try await scene.release().exitCode == 0)
            let before = try scene.folder.contents(of: "morning/pins.json")
            let behind = try await scene.release(at: "2026-11-23T00:00:00Z", of: "morning")
            #expect(behind.exitCode == 1 && behind.output.isEmpty, "\(behind)")
            for words in ["checkout-behind: list (version 2 of 2026-11-22", "up to date", "--allow checkout-behind"] {
                #expect(behind.errors.contains(words), "\(behind)")
            }
            #expect(scene.service.requests("PUT").count == 1)
            #expect(try scene.folder.contents(of: "morning/pins.json") == before)
            #expect(
                !FileManager.default.fileExists(
                    atPath: scene.folder.appendingPathComponent("morning/lists/2.json").path))
            // Brought up to date, it releases what the other one wrote, too.
            for name in ["tumbler.yaml", "pins.json", "lists/2.json"] {
                try scene.folder.write(try scene.folder.contents(of: "project/\(name)"), as: "morning/\(name)")
            }
            #expect(try await scene.release(at: "2026-11-23T00:00:00Z", of: "morning").exitCode == 0)
            #expect(try scene.servedVersion == 3)
            // The first one is behind now, and its person wants it so.
            let allowed = try await scene.release(
                ["--yes", "--allow", "checkout-behind"], at: "2026-11-24T00:00:00Z")
            #expect(allowed.exitCode == 0, "\(allowed)")
            #expect(try scene.servedVersion == 4)
        }
    }

    @Test("of two that release at once the loser is told to bring the checkout up to date, and not to release over it")
    func ofTwoThatReleaseAtOnceTheLoserIsToldToBringTheCheckoutUpToDate() async throws {
        try await self.with { scene in
            scene.shelf.override.withLockedValue { $0 = .problem(409, "equivocation", "another list of version 2") }
            let run = try await scene.release()
            run.expectError(1, hint: true)
            #expect(run.errors.contains("bring the checkout up to date, then tumbler release"), "\(run)")
        }
    }

    @Test("a step of a rotation in a checkout that is behind changes nothing, and neither does an emergency")
    func stepOfARotationInACheckoutThatIsBehindChangesNothing() async throws {
        try await self.with { scene in
            let (old, new) = (ProjectText.pin("a"), ProjectText.pin("f"))
            let host = ["api.example.com", "-C", "morning", "--no-look", "--at", "2026-11-23T00:00:00Z"]
            try scene.copy(to: "morning")
            #expect(try await scene.release().exitCode == 0)
            let source = try scene.folder.text(of: "morning/tumbler.yaml")
            let plan = scene.folder.appendingPathComponent("morning/rotations/api.example.com.yaml")
            let token = ["--token-file", "token", "--yes"]
            let emergency = try await CommandRun.tumbler(
                ["rotate", "emergency", "--old", old, "--pin", new, "--no-suspension"] + host + token,
                in: scene.folder)
            #expect(emergency.exitCode == 1 && emergency.errors.contains("checkout-behind"), "\(emergency)")
            #expect(!FileManager.default.fileExists(atPath: plan.path))
            #expect(try scene.folder.text(of: "morning/tumbler.yaml") == source)

            let planned = try await CommandRun.tumbler(
                ["rotate", "plan", "--old", old, "--pin", new] + host, in: scene.folder)
            #expect(planned.exitCode == 0, "\(planned)")
            let written = try Data(contentsOf: plan)
            let next = try await CommandRun.tumbler(["rotate", "next"] + host + token, in: scene.folder)
            #expect(next.exitCode == 1 && next.errors.contains("checkout-behind"), "\(next)")
            #expect(try Data(contentsOf: plan) == written)
            #expect(try scene.folder.text(of: "morning/tumbler.yaml") == source)
            #expect(scene.service.requests("PUT").count == 1)
        }
    }

    @Test(
        "what the service refuses is not written: pins.json is what it was",
        arguments: [(401, "unauthorized"), (409, "rollback"), (422, "unsigned"), (503, "unavailable")])
    func whatTheServiceRefusesIsNotWrittenPinsJsonIsWhatItWas(status: Int, code: String) async throws {
        try await self.with { scene in
            let before = try scene.folder.contents(of: "project/pins.json")
            scene.shelf.override.withLockedValue { $0 = .problem(status, code, "no") }
            let run = try await scene.release(["--yes", "--export", "www"])
            run.expectError(status == 503 ? 2 : 1, hint: true)
            #expect(run.errors.contains("nothing was written"), "\(run)")
            #expect(try scene.folder.contents(of: "project/pins.json") == before)
            #expect(!FileManager.default.fileExists(atPath: scene.folder.appendingPathComponent("www").path))
            // Without a list there was none, and there is none.
            try FileManager.default.removeItem(at: scene.folder.appendingPathComponent("project/pins.json"))
            #expect(try await scene.release().exitCode != 0)
            #expect(
                !FileManager.default.fileExists(atPath: scene.folder.appendingPathComponent("project/pins.json").path))
        }
    }

    @Test("a connection that breaks after the list was sent: pins.json holds it, and publishing once more is safe")
    func connectionThatBreaksAfterTheListWasSentPinsJsonHoldsIt() async throws {
        try await self.with { scene in
            scene.shelf.override.withLockedValue { $0 = .cut }
            let run = try await scene.release()
            run.expectError(2, hint: true)
            #expect(run.errors.contains("not known") && run.errors.contains("tumbler publish"), "\(run)")
            #expect(try scene.version == 2)
            scene.shelf.override.withLockedValue { $0 = nil }
            let again = try await CommandRun.tumbler(
                ["publish", "-C", "project", "--token-file", "token"], in: scene.folder)
            again.expectResult()
            #expect(try scene.servedVersion == 2)
            let puts = scene.service.requests("PUT").map(\.body)
            #expect(puts.count == 2 && puts[0] == puts[1])
        }
    }

    @Test(
        "an answer that leaves open whether the list is out: pins.json holds it, and publishing once more is safe",
        arguments: [
            RecordingService.Answer.problem(503, "store-unknown-outcome", "whether it was made is not known"),
            .says(502, ["Content-Type": "text/html"], "<h1>Bad Gateway</h1>"), .says(504, [:], ""),
            .says(504, ["Content-Type": "application/problem+json"], #"{"title": "Gateway Timeout"}"#),
            .says(503, ["Content-Type": "application/problem+json"], #"{"title": "upstream"}"#),
            .problem(500, "http", "no"), .json(202, "{}"),
        ])
    func answerThatLeavesOpenWhetherTheListIsOutPinsJsonHoldsIt(answer: RecordingService.Answer) async throws {
        try await self.with { scene in
            scene.shelf.override.withLockedValue { $0 = answer }
            let run = try await scene.release()
            run.expectError(2, hint: true)
            #expect(run.errors.contains("whether it is published is not known"), "\(run)")
            #expect(run.errors.contains("pins.json holds the new list"), "\(run)")
            #expect(run.errors.contains("tumbler publish once more") && !run.errors.contains("nothing was"), "\(run)")
            #expect(try scene.version == 2)
            let publish = ["publish", "-C", "project", "--token-file", "token"]
            let still = try await CommandRun.tumbler(publish, in: scene.folder)
            still.expectError(2, hint: true)
            #expect(still.errors.contains("tumbler publish once more"), "\(still)")
            scene.shelf.override.withLockedValue { $0 = nil }
            try await CommandRun.tumbler(publish, in: scene.folder).expectResult()
            #expect(try scene.servedVersion == 2)
            #expect(Set(scene.service.requests("PUT").map(\.body)).count == 1)
        }
    }

    @Test("an emergency rotation whose list may be out keeps its edit, and does not say that nothing was released")
    func emergencyRotationWhoseListMayBeOutKeepsItsEdit() async throws {
        try await self.with { scene in
            scene.shelf.override.withLockedValue { $0 = .problem(503, "store-unknown-outcome", "not known") }
            let rotation = ["-C", "project", "--token-file", "token", "--no-look", "--at", "2026-11-22T00:00:00Z"]
            let emergency = try await CommandRun.tumbler(
                [
                    "rotate", "emergency", "api.example.com", "--yes", "--old", ProjectText.pin("a"), "--pin",
                    ProjectText.pin("f"), "--suspend-for", "12h",
                ] + rotation, in: scene.folder)
            #expect(emergency.exitCode == 2 && emergency.output.isEmpty, "\(emergency)")
            #expect(emergency.errors.contains("the list may be released: tumbler publish"), "\(emergency)")
            #expect(!emergency.errors.contains("nothing was released"), "\(emergency)")
            #expect(try scene.version == 2)
            #expect(try scene.folder.text(of: "project/tumbler.yaml").contains(ProjectText.pin("f")))
        }
    }

    @Test("a step of a rotation whose list may be out keeps its edit of the source")
    func stepOfARotationWhoseListMayBeOutKeepsItsEditOfTheSource() async throws {
        try await self.with { scene in
            let rotation = ["-C", "project", "--token-file", "token", "--no-look", "--at", "2026-11-22T00:00:00Z"]
            // Plans are asked for below the list, and there are none.
            scene.shelf.override.withLockedValue { $0 = .problem(503, "store-unavailable", "no") }
            let plan = try await CommandRun.tumbler(
                [
                    "rotate", "plan", "api.example.com", "--old", ProjectText.pin("a"), "--pin", ProjectText.pin("f"),
                ] + rotation, in: scene.folder)
            #expect(plan.exitCode == 0, "\(plan)")
            let before = try scene.folder.text(of: "project/tumbler.yaml")
            for (answer, isKept) in [
                (RecordingService.Answer.problem(503, "store-unavailable", "no"), false),
                (.problem(503, "store-unknown-outcome", "not known"), true),
            ] {
                scene.shelf.override.withLockedValue { $0 = answer }
                let next = try await CommandRun.tumbler(
                    ["rotate", "next", "api.example.com", "--yes"] + rotation, in: scene.folder)
                #expect(next.exitCode == 2, "\(next)")
                #expect(try (scene.folder.text(of: "project/tumbler.yaml") != before) == isKept, "\(next)")
                #expect(try scene.version == (isKept ? 2 : 1), "\(next)")
            }
        }
    }

    @Test("a service that cannot be asked, or serves what the roots do not hold, stops it before anything is signed")
    func serviceThatCannotBeAskedOrServesWhatTheRootsDoNotHold() async throws {
        try await self.with { scene in
            let before = try scene.folder.contents(of: "project/pins.json")
            _ = try ServedLists(in: scene.folder)
            scene.shelf.list.withLockedValue { $0 = try? scene.folder.text(of: "bundled.json") }
            let foreign = try await scene.release()
            foreign.expectError(1, hint: true)
            scene.shelf.list.withLockedValue { $0 = "<html>" }
            try await scene.release().expectError(1, hint: true)
            try await LoopbackPort.with(.closed) { port in
                try await scene.release(["--yes", "--server", "http://127.0.0.1:\(port)"]).expectError(2)
            }
            #expect(scene.service.requests("PUT").isEmpty)
            #expect(try scene.folder.contents(of: "project/pins.json") == before)
        }
    }

    @Test(
        "two lists of one version, here and there: nothing is released, and where it is allowed the next follows both")
    func twoListsOfOneVersionHereAndThereNothingIsReleasedAndWhereItIsAllowedTheNextFollowsBoth() async throws {
        try await self.with { scene in
            let other = try await CommandRun.shell(
                #"""
                set -e; cd project; mv pins.json kept.json
                sed 's/mode: enforce/mode: report/' tumbler.yaml > other.yaml
                "$0" build other.yaml --at 2026-11-21T00:00:00Z -o other.payload
                "$0" sign other.payload --yes -o ../other.json; mv kept.json pins.json
                """#, in: scene.folder)
            #expect(other.exitCode == 0, "\(other)")
            let served = try scene.folder.text(of: "other.json")
            scene.shelf.list.withLockedValue { $0 = served }
            let refused = try await scene.release()
            #expect(refused.exitCode == 1 && refused.errors.contains("checkout-behind"), "\(refused)")
            #expect(try scene.version == 1)
            let run = try await scene.release(["--yes", "--allow", "checkout-behind"])
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("have different lists of version 1: who signed?"), "\(run)")
            #expect(try scene.version == 2)
        }
    }

    @Test("a thief's list of the highest version bounds nothing, once a root has taken the stolen key away")
    func thiefsListOfTheHighestVersionBoundsNothingOnceARootHasTakenTheStolenKeyAway() async throws {
        try await self.with { scene in
            let script = #"""
                cd project
                "$0" build --at 2026-11-22T00:00:00Z -o list.payload
                sed 's/"version":[ ]*2/"version":9007199254740991/' list.payload > thief.payload
                grep -q 9007199254740991 thief.payload
                "$0" sign thief.payload --yes -o ../thief.json
                "$0" key new keys/new.pem --insecure-plaintext
                "$0" root rotate --add pins=keys/new.pem.pub --at 2026-11-23T00:00:00Z -o two.payload
                "$0" sign two.payload --key keys/root.pem --yes -o root/2.json
                stolen=$("$0" key show keys/pins.pem | sed -n 's/^keyid //p')
                "$0" root rotate --remove "pins=$stolen" --at 2026-11-24T00:00:00Z -o three.payload
                "$0" sign three.payload --key keys/root.pem --yes -o root/3.json
                """#
            let prepared = try await CommandRun.shell("set -e\n" + script, in: scene.folder)
            #expect(prepared.exitCode == 0, "\(prepared)")
            let thief = try scene.folder.text(of: "thief.json")
            scene.shelf.list.withLockedValue { $0 = thief }
            let run = try await scene.release(["--yes", "--key", "project/keys/new.pem"], at: "2026-11-25T00:00:00Z")
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("which no signer of the newest root signed"), "\(run)")
            #expect(try scene.version == 2)
        }
    }

    @Test("a server without a token: nothing is released, and it is said; --no-publish means it so")
    func serverWithoutATokenNothingIsReleasedAndItIsSaidNoPublishMeansItSo() async throws {
        try await self.with { scene in
            let before = try scene.folder.contents(of: "project/pins.json")
            let release = ["release", "-C", "project", "--yes", "--at", "2026-11-22T00:00:00Z"]
            let run = try await CommandRun.tumbler(release, in: scene.folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("nothing was published") && run.errors.contains("--no-publish"), "\(run)")
            #expect(try scene.folder.contents(of: "project/pins.json") == before)
            #expect(scene.service.requests.isEmpty)
            let offline = try await CommandRun.tumbler(release + ["--no-publish"], in: scene.folder)
            #expect(offline.exitCode == 0, "\(offline)")
            #expect(
                offline.errors.contains("not published") && offline.errors.contains("tumbler publish"), "\(offline)")
            #expect(scene.service.requests("PUT").isEmpty)
            #expect(try scene.version == 2)
            // It is signed, and not published yet; publishing records when.
            let lines = "project/lists/published.jsonl"
            #expect(try !scene.folder.text(of: lines).contains(#""version":2"#))
            let publish = ["publish", "-C", "project", "--token-file", "token", "--at", "2026-11-23T00:00:00Z"]
            try await CommandRun.tumbler(publish, in: scene.folder).expectResult()
            #expect(try scene.folder.text(of: lines).contains(#""at":"2026-11-23T00:00:00Z""#))
        }
    }
}
