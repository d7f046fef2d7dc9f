// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@Suite("Publishing")
struct PublishCommandTests {
    private static let done = RecordingService.Answer.json(
        200, #"{"name": "com.example.app", "changes": ["root 1", "list 1"]}"#)

    /// A folder with `root.json`, `bundled.json` and a token, beside a service.
    private func with(
        _ answer: RecordingService.Answer, _ body: (URL, RecordingService) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            try folder.writeToken()
            try await RecordingService.with({ _ in answer }) { try await body(folder, $0) }
        }
    }

    private func publish(_ files: [String], _ service: RecordingService, _ more: [String] = [], in folder: URL)
        async throws -> CommandRun
    {
        try await CommandRun.tumbler(
            ["publish"] + files + ["--server", service.address, "--token-file", "token"] + more, in: folder)
    }

    @Test("files in any order become one request: roots, then the list, byte for byte, with the token in its header")
    func filesInAnyOrderBecomeOneRequestRootsThenTheListByteForByte() async throws {
        try await self.with(Self.done) { folder, service in
            let run = try await self.publish(["bundled.json", "root.json"], service, in: folder)
            run.expectResult()
            #expect(run.lines == ["com.example.app: published root 1, list 1"])
            let request = try #require(service.requests.first)
            #expect(service.requests.count == 1)
            #expect(request.method == "PUT" && request.path == "/v1/lists/com.example.app")
            #expect(request.headers["Authorization"] == ["Bearer tumbler_0123456789abcdef_00ff"])
            #expect(request.headers["Content-Type"] == ["application/json"])
            let expected = try "[\(folder.text(of: "root.json")),\(folder.text(of: "bundled.json"))]"
            #expect(request.body == Array(expected.utf8))
        }
    }

    @Test("roots go in the order of their versions, not of their names")
    func rootsGoInTheOrderOfTheirVersionsNotOfTheirNames() async throws {
        try await self.with(Self.done) { folder, service in
            var lists = try ServedLists(in: folder)
            for _ in 2...11 { try lists.repository.publishRoot() }
            try lists.store()
            let roots = lists.repository.roots.map { String(decoding: $0, as: UTF8.self) }
            let names = (1...11).map { "site/root/\($0).json" }.sorted()
            try await self.publish(["site/pins.json"] + names, service, in: folder).expectResult()
            let list = try folder.text(of: "site/pins.json")
            let expected = "[\((roots + [list]).joined(separator: ","))]"
            #expect(service.requests.map(\.body) == [Array(expected.utf8)])
        }
    }

    @Test("--json, and what is published already, which is no failure")
    func jsonAndWhatIsPublishedAlreadyWhichIsNoFailure() async throws {
        try await self.with(Self.done) { folder, service in
            let run = try await self.publish(["root.json"], service, ["--json"], in: folder)
            run.expectResult()
            #expect(run.output == #"{"changes":["root 1","list 1"],"name":"com.example.app"}"# + "\n")
        }
        try await self.with(.json(200, #"{"name": "com.example.app", "changes": []}"#)) { folder, service in
            let again = try await self.publish(["root.json"], service, in: folder)
            again.expectResult()
            #expect(again.lines == ["com.example.app: published already"])
        }
    }

    @Test("without files the project's roots and list are published, where tumbler.yaml says")
    func withoutFilesTheProjectsRootsAndListArePublishedWhereTumblerYamlSays() async throws {
        try await self.with(Self.done) { folder, service in
            let setUp = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain",
                    "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
                ], in: folder)
            #expect(setUp.exitCode == 0, "\(setUp)")
            let source = try folder.text(of: "project/tumbler.yaml")
            try folder.write(
                source + "\nserver: \(service.address)/\n", as: "project/tumbler.yaml")
            let run = try await CommandRun.shell(
                #"TUMBLER_TOKEN_FILE=token "$0" publish -C project"#, in: folder)
            run.expectResult()
            let expected = try "[\(folder.text(of: "project/root/1.json")),\(folder.text(of: "project/pins.json"))]"
            #expect(service.requests.map(\.body) == [Array(expected.utf8)])
            // No list can be kept there, as on a full disk: it went out all the same.
            try FileManager.default.removeItem(at: folder.appendingPathComponent("project/lists"))
            try folder.write("", as: "project/lists")
            let full = try await CommandRun.shell(#"TUMBLER_TOKEN_FILE=token "$0" publish -C project"#, in: folder)
            full.expectError(2, hint: true)
            #expect(full.errors.contains("error: the list is published, and not all was done"), "\(full)")
        }
    }

    @Test(
        "what the service refuses is said with its code and what to do, and ends with 1",
        arguments: [
            (401, "unauthorized"), (403, "forbidden"), (409, "rollback"), (409, "equivocation"),
            (422, "would-supersede"), (422, "unsigned"), (422, "name-not-configured"), (413, "too-large"),
        ])
    func whatTheServiceRefusesIsSaidWithItsCodeAndWhatToDoAndEndsWith1(status: Int, code: String) async throws {
        try await self.with(.problem(status, code, "because")) { folder, service in
            let run = try await self.publish(["root.json", "bundled.json"], service, in: folder)
            run.expectError(1, hint: true)
            #expect(run.errorLines.first == "tumbler: error: not published: \(status) \(code): because")
        }
    }

    @Test(
        "a server that cannot, a redirect, garbage, an endless answer and none at all end with 2",
        arguments: [
            RecordingService.Answer.problem(503, "unavailable", "the disk is full"),
            .problem(503, "not-verified", "the configured root is a list"),
            .problem(429, "slow-down", "later"),
            .says(502, ["Content-Type": "text/html"], "<h1>Bad Gateway</h1>"), .says(404, [:], ""),
            .says(307, ["Location": "http://127.0.0.1:1/"], ""), .json(200, "hello"), .json(200, "{}"),
            .json(200, #"{"name": "com.example.other", "changes": []}"#), .json(200, "[]"),
            .json(202, #"{"name": "com.example.app", "changes": []}"#), .endless, .cut,
        ])
    func serverThatCannotARedirectGarbageAnEndlessAnswerAndNoneAtAllEndWith2(answer: RecordingService.Answer)
        async throws
    {
        try await self.with(answer) { folder, service in
            let run = try await self.publish(["root.json", "bundled.json"], service, in: folder)
            run.expectError(2)
            #expect(service.requests.count == 1)
        }
    }

    @Test("a redirect is not followed: the token goes to one server alone")
    func redirectIsNotFollowedTheTokenGoesToOneServerAlone() async throws {
        try await RecordingService.with({ _ in Self.done }) { other in
            try await self.with(.says(308, ["Location": other.address + "/v1/lists/com.example.app"], "")) {
                folder, service in
                let run = try await self.publish(["root.json"], service, in: folder)
                run.expectError(2, hint: true)
                #expect(run.errors.contains("redirects"))
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test("an untrusted server gets neither list nor token")
    func untrustedServerGetsNeitherListNorToken() async throws {
        let pki = try TestPKI(["localhost"])
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            try folder.writeToken()
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
                let run = try await CommandRun.tumbler(
                    [
                        "publish", "root.json", "--server", "https://localhost:\(server.port)", "--token-file", "token",
                    ], in: folder)
                run.expectError(2)
                #expect(run.errors.contains("not trusted"), "\(run)")
                #expect(server.counts.requests == 0)
            }
        }
    }

    @Test("no server listens, or there is no such host: said to be not published")
    func noServerListensOrThereIsNoSuchHostSaidToBeNotPublished() async throws {
        try await withTemporaryFolder { folder in
            _ = try ServedLists(in: folder)
            try folder.writeToken()
            try await LoopbackPort.with(.closed) { port in
                for address in ["http://127.0.0.1:\(port)", "https://nosuch.invalid"] {
                    let run = try await CommandRun.tumbler(
                        ["publish", "root.json", "--server", address, "--token-file", "token"], in: folder)
                    run.expectError(2, hint: false)
                    #expect(run.errors.contains("not published"), "\(run)")
                }
            }
        }
    }

    @Test("files that do not belong together, or are not signed, are not sent")
    func filesThatDoNotBelongTogetherOrAreNotSignedAreNotSent() async throws {
        try await self.with(Self.done) { folder, service in
            let list = try folder.contents(of: "bundled.json")
            let envelope = try Envelope(Array(list), of: .pins, limits: MetadataLimits())
            try folder.write(Data(envelope.payload), as: "payload.json")
            try folder.write(MetadataFixture.list(name: "com.example.other"), as: "other.payload")
            let other = try PinList(payload: Array(folder.contents(of: "other.payload")))
            var foreign = Envelope(payloadType: envelope.payloadType, payload: other.payload)
            foreign.signatures = envelope.signatures
            try folder.write(Data(foreign.bytes), as: "other.json")
            try folder.write(Data(list), as: "again.json")
            try folder.write("{}", as: "rubbish.json")
            for files in [
                ["payload.json"], ["root.json", "other.json"], ["bundled.json", "again.json"],
                ["root.json", "root.json"], ["rubbish.json"],
            ] {
                let run = try await self.publish(files, service, in: folder)
                run.expectError(1)
            }
            try await self.publish(["missing.json"], service, in: folder).expectError(2)
            #expect(service.requests.isEmpty)
        }
    }
}
