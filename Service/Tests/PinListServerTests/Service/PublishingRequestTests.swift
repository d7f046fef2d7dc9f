// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOConcurrencyHelpers
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Publishing over HTTP", .runsPostgreSQL)
struct PublishingRequestTests {
    private static let pins = "/v1/lists/com.example.app/pins.json"

    private func run(
        _ tested: TestedStore, anchors: [String: [UInt8]], _ body: @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await tested.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = anchors }, body)
        }
    }

    @Test(
        "a root and a list are served byte for byte; the same again changes nothing; an older one is a conflict",
        arguments: TestedStore.all)
    func rootAndAListAreServedByteForByteTheSameAgainChangesNothing(on tested: TestedStore) async throws {
        var simulator = try RepositorySimulator.story()
        let second = try simulator.publishList { _ in }
        let repository = simulator
        let file = second + [UInt8(ascii: "\n")]
        try await self.run(tested, anchors: repository.anchors) { service in
            let token = try await service.token(.publish, ["com.example.app"])
            #expect(try await service.ask(.GET, Self.pins).status == 404)
            let first = try await service.publish([repository.roots[0], file], token: token)
            #expect(first.status == 200)
            #expect(first.text == #"{"name":"com.example.app","changes":["root 1","list 2"]}"#)
            let served = try await service.ask(.GET, Self.pins)
            #expect(served.status == 200)
            #expect(served.body == file)
            #expect(served.headers["etag"] == ["\"\(Envelope.digest(of: file))\""])
            #expect(served.headers["content-encoding"].isEmpty)
            #expect(served.headers["cache-control"] == ["public, max-age=300"])
            let root = try await service.ask(.GET, "/v1/lists/com.example.app/root/1.json")
            #expect(root.body == repository.roots[0])
            #expect(root.headers["cache-control"] == ["public, max-age=31536000, immutable"])
            let missing = try await service.ask(.GET, "/v1/lists/com.example.app/root/2.json")
            #expect(missing.status == 404)
            #expect(missing.headers["cache-control"] == ["public, max-age=60"])
            let again = try await service.publish([repository.roots[0], file], token: token)
            #expect(again.text == #"{"name":"com.example.app","changes":[]}"#)
            let old = try await service.publish([repository.lists[0]], token: token)
            #expect(old.status == 409)
            #expect(old.code == "rollback")
            #expect(try await service.ask(.GET, Self.pins).body == file)
            #expect(try await service.actions() == ["publish", "publish", "publish-refused"])
        }
    }

    @Test("another list of the same version is a conflict; the same one signed again replaces the envelope")
    func anotherListOfTheSameVersionIsAConflict() async throws {
        var simulator = try RepositorySimulator.story()
        let resigned = try simulator.republishList()
        var other = simulator
        let equivocation = try other.publishList {
            $0.version = 1
            $0.refreshAfter = 1_800
        }
        let (repository, second) = (simulator, equivocation)
        #expect(resigned != repository.lists[0])
        try await self.run(.sqlite, anchors: repository.anchors) { service in
            let token = try await service.token(.publish, ["com.example.app"])
            _ = try await service.publish([repository.roots[0], repository.lists[0]], token: token)
            let refused = try await service.publish([second], token: token)
            #expect(refused.status == 409)
            #expect(refused.code == "equivocation")
            #expect(try await service.ask(.GET, Self.pins).body == repository.lists[0])
            let answer = try await service.publish([resigned], token: token)
            #expect(answer.status == 200)
            #expect(answer.text.contains("list 1 with other signatures"))
            #expect(try await service.ask(.GET, Self.pins).body == resigned)
        }
    }

    @Test("a root that revokes the signer of the list that is served is refused alone, and taken with a new list")
    func rootThatRevokesTheSignerOfTheListThatIsServedIsRefusedAlone() async throws {
        var simulator = try RepositorySimulator.story()
        simulator.pinsKeys = [simulator.newKey()]
        let root = try simulator.publishRoot()
        let list = try simulator.publishList { _ in }
        let repository = simulator
        try await self.run(.sqlite, anchors: repository.anchors) { service in
            let token = try await service.token(.publish, ["com.example.app"])
            _ = try await service.publish([repository.roots[0], repository.lists[0]], token: token)
            let alone = try await service.publish([root], token: token)
            #expect(alone.status == 422)
            #expect(alone.code == "would-supersede")
            #expect(try await service.ask(.GET, "/v1/lists/com.example.app/root/2.json").status == 404)
            let both = try await service.publish([root, list], token: token)
            #expect(both.status == 200)
            #expect(try await service.ask(.GET, "/v1/lists/com.example.app/root/2.json").body == root)
            #expect(try await service.ask(.GET, Self.pins).body == list)
        }
    }

    @Test("a wrong root is configured, or what is stored does not verify: nothing is published, and that is said")
    func wrongRootIsConfiguredOrWhatIsStoredDoesNotVerifyNothingIsPublishedAndThatIsSaid() async throws {
        let repository = try RepositorySimulator.story()
        let stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
        let both = [repository.roots[0], repository.lists[0]]
        for (name, anchor, isStored, code) in [
            ("com.example.app", repository.lists[0], false, "wrong-type"),
            ("com.example.other", repository.roots[0], false, "wrong-name"),
            ("com.example.app", stranger.roots[0], true, "root-gap"),
        ] {
            let lines = NIOLockedValueBox<[String]>([])
            let logger = Logger(label: "test") { _ in RetentionTests.Lines(lines: lines) }
            try await TestedStore.sqlite.withDatabase { open in
                let store = try open()
                if isStored {
                    _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                        both, name: name, by: "cli", at: TurnedClock.start)
                }
                let count = try await store.read { try $0.publicationCount() }
                try await RunningService.with(store, logger: logger, { $0.roots = [name: anchor] }) { service in
                    let token = try await service.token(.publish, [name])
                    let answer = try await service.publish(both, name, token: token)
                    #expect(answer.status == 503)
                    #expect(answer.code == "not-verified")
                    #expect(answer.member("detail")?.contains(code) == true)
                    #expect(try await service.actions().last == "publish-refused")
                    #expect(try await store.read { try $0.publicationCount() } == count)
                }
                #expect(lines.withLockedValue { $0.contains { $0.hasPrefix("\(name) is not served: ") } }, "\(code)")
            }
        }
    }

    @Test("an error that no route expects is a problem as any other, and the log has it")
    func errorThatNoRouteExpectsIsAProblemAsAnyOtherAndTheLogHasIt() async throws {
        struct Unexpected: Error {}
        let repository = try RepositorySimulator.story()
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in RetentionTests.Lines(lines: lines) }
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await RunningService.with(store, logger: logger, { $0.roots = repository.anchors }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                store.failure = Unexpected()
                let answer = try await service.publish([repository.roots[0]], token: token)
                store.failure = nil
                #expect(answer.status == 500)
                #expect(answer.code == "internal")
                let line = "PUT /v1/lists/com.example.app failed: Unexpected()"
                #expect(lines.withLockedValue { $0.contains(line) })
            }
        }
    }

    @Test("a token without the right to publish is refused, and so is an invalid publication")
    func tokenWithoutTheRightToPublishIsRefusedAndSoIsAnInvalidPublication() async throws {
        let repository = try RepositorySimulator.story()
        let stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
        try await self.run(.sqlite, anchors: repository.anchors) { service in
            let token = try await service.token(.publish, ["com.example.app", "com.example.none"])
            let both = [repository.roots[0], repository.lists[0]]
            for (secret, status) in [
                (nil, 401), ("nonsense", 401), (token + "0", 401), (String(token.dropLast()) + "x", 401),
                (try await service.token(.read), 403), (try await service.token(.publish, ["com.example.other"]), 403),
                (try await service.token(.probe, ["com.example.app"]), 403),
            ] as [(String?, Int)] {
                #expect(try await service.publish(both, token: secret).status == status)
            }
            let revoked = try await service.token(.publish, ["com.example.app"])
            try await service.revoke(revoked)
            #expect(try await service.publish(both, token: revoked).status == 401)
            #expect(try await service.publish(both, "com.example.none", token: token).code == "name-not-configured")
            let otherRoot = try await service.publish([stranger.roots[0], stranger.lists[0]], token: token)
            #expect(otherRoot.status == 422)
            #expect(otherRoot.code == "root-gap")
            let headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
            for body in ["", "{", "{}", "[1]", "[]", "[{}]", "null", "\u{ff}"] {
                let answer = try await service.ask(
                    .PUT, "/v1/lists/com.example.app", headers, Array(body.utf8))
                #expect(answer.status == 422, "\(body)")
                #expect(answer.code == "malformed", "\(body)")
            }
            // Each of them with a token: a job that fails every night is seen.
            let actions = try await service.actions()
            #expect(actions == Array(repeating: "publish-refused", count: 10))
            // The answer comes before the body was sent, and may be lost with the connection; nothing is taken.
            let large = try? await service.ask(
                .PUT, "/v1/lists/com.example.app", headers,
                [UInt8](repeating: 0x20, count: EnvelopeArray.maximumBytes + 1))
            #expect(large == nil || large?.status == 413)
            let packed = try await service.ask(
                .PUT, "/v1/lists/com.example.app", headers + [("Content-Encoding", "gzip")], [1])
            #expect(packed.status == 415)
            #expect(try await service.ask(.GET, Self.pins).status == 404)
        }
    }

    @Test("the list that is served, in a hundred spellings, is no row, no entity tag and no entry of the log")
    func listThatIsServedInAHundredSpellingsIsNoRowNoEntityTagAndNoEntryOfTheLog() async throws {
        let simulator = try RepositorySimulator(at: TurnedClock.start, pinsKeys: (2, 1))
        let list = simulator.lists[0]
        try await self.run(.sqlite, anchors: simulator.anchors) { service in
            let token = try await service.token(.publish, ["com.example.app"])
            _ = try await service.publish([simulator.roots[0], list], token: token)
            for number in 1...100 {
                var envelope = try Envelope(list, of: .pins, limits: MetadataLimits())
                envelope.signatures = envelope.signatures.reversed().map { .init(keyID: "\(number)", bytes: $0.bytes) }
                let spelling = [UInt8](repeating: 0x20, count: number) + (number % 2 == 0 ? envelope.bytes : list)
                let answer = try await service.publish([spelling], token: token)
                #expect(answer.status == 200)
                #expect(answer.text == #"{"name":"com.example.app","changes":[]}"#)
            }
            let served = try await service.ask(.GET, Self.pins)
            #expect(served.headers["etag"] == ["\"\(Envelope.digest(of: list))\""])
            #expect(try await service.store.read { try $0.publicationCount(of: "com.example.app") } == 1)
            #expect(try await service.actions() == ["publish", "publish"])
        }
    }

    @Test("each root is served at its version, before and after the configuration moves to a later root")
    func eachRootIsServedAtItsVersionBeforeAndAfterTheConfigurationMovesToALaterRoot() async throws {
        var simulator = try RepositorySimulator.story()
        for _ in 2...4 {
            simulator.rootKeys.append(simulator.newKey(.ed25519))
            try simulator.publishRoot()
        }
        let (roots, list) = (simulator.roots, simulator.lists[0])
        let expect: @Sendable (RunningService, [Int: [UInt8]]) async throws -> Void = { service, wanted in
            for version in 1...5 {
                let answer = try await service.ask(.GET, "/v1/lists/com.example.app/root/\(version).json")
                #expect(answer.status == (wanted[version] == nil ? 404 : 200), "root \(version)")
                if let root = wanted[version] { #expect(answer.body == root) }
            }
            #expect(try await service.ask(.GET, Self.pins).body == list)
            #expect(try await service.ask(.GET, "/readyz").status == 200)
        }
        // An app that ships root 3; the publisher sends all roots of the project.
        try await self.run(.sqlite, anchors: ["com.example.app": roots[2]]) { service in
            let token = try await service.token(.publish, ["com.example.app"])
            let answer = try await service.publish(roots + [list], token: token)
            #expect(answer.text.contains(#"["root 3","root 4","list 1"]"#))
            try await expect(service, [3: roots[2], 4: roots[3]])
        }
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = ["com.example.app": roots[0]] }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                _ = try await service.publish(roots[..<2] + [list], token: token)
            }
            try await RunningService.with(try open(), { $0.roots = ["com.example.app": roots[2]] }) { service in
                try await expect(service, [1: roots[0], 2: roots[1]])
                let token = try await service.token(.publish, ["com.example.app"])
                #expect(try await service.publish([roots[2]], token: token).text.contains(#"["root 3"]"#))
                try await expect(service, [1: roots[0], 2: roots[1], 3: roots[2]])
            }
        }
    }

    @Test("a commit without an answer is not said to have failed: whether the list is out is not known")
    func commitWithoutAnAnswerIsNotSaidToHaveFailedWhetherTheListIsOutIsNotKnown() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                for (code, isKnown) in [(StoreError.Code.unknownOutcome, false), (.unavailable, true)] {
                    store.failure = StoreError(code, "the server is gone")
                    let answer = try await service.publish([repository.roots[0], repository.lists[0]], token: token)
                    #expect(answer.status == 503)
                    #expect(answer.code == "store-\(code)")
                    #expect(answer.member("detail")?.contains("not known") == !isKnown)
                }
                store.failure = nil
            }
        }
    }

    @Test(
        "white space around the configured root, or around the one that is published, is no other root",
        arguments: [("", "\n"), ("\n", ""), (" \r\n", "\t\n"), ("", "")])
    func whiteSpaceAroundTheConfiguredRootOrAroundTheOneThatIsPublishedIsNoOtherRoot(configured: String, sent: String)
        async throws
    {
        var simulator = try RepositorySimulator.story()
        simulator.rootKeys.append(simulator.newKey(.ed25519))
        let second = try simulator.publishRoot()
        let repository = simulator
        let anchor = repository.roots[0] + Array(configured.utf8)
        let element = Array(sent.utf8) + repository.roots[0] + Array(sent.utf8)
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open(), { $0.roots = ["com.example.app": anchor] }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                let answer = try await service.publish([element, second, repository.lists[0]], token: token)
                #expect(answer.text.contains(#"["root 1","root 2","list 1"]"#))
                #expect(try await service.publish([repository.roots[0], second], token: token).text.contains("[]"))
                #expect(try await service.ask(.GET, "/v1/lists/com.example.app/root/1.json").body == anchor)
                #expect(try await service.ask(.GET, "/v1/lists/com.example.app/root/2.json").body == second)
            }
            // Configured anew, with other white space, what is stored is still served.
            try await RunningService.with(try open(), { $0.roots = ["com.example.app": element] }) { service in
                let root = try await service.ask(.GET, "/v1/lists/com.example.app/root/1.json")
                let ready = try await service.ask(.GET, "/readyz")
                #expect(root.body == element)
                #expect(ready.status == 200)
            }
        }
    }
}
