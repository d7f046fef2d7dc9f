// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("A client that was offered another truth")
struct EquivocationTests {
    private static func incident(_ envelope: [UInt8], name: String = "com.example.app") -> [UInt8] {
        JSONValue.object([
            .init("date-time", .string("2026-11-21T00:00:00Z")),
            .init(
                "tumbler",
                .object([
                    .init("list-name", .string(name)), .init("list-version", .integer(2)),
                    .init("reason", .string("equivocation")),
                    .init("envelope", .string(Data(envelope).base64EncodedString())),
                ])),
        ]).bytes
    }

    /// Two lists published, and what else the signers signed.
    private struct Scene {
        var repository: RepositorySimulator
        let second: [UInt8]
        let resigned: [UInt8]
        let other: [UInt8]
        let unpublished: [UInt8]
        let forged: [UInt8]

        init() throws {
            var repository = try RepositorySimulator.story()
            var elsewhere = repository
            self.second = try repository.publishList { _ in }
            self.repository = repository
            self.resigned = try repository.republishList()
            self.other = try elsewhere.publishList { $0.refreshAfter = 1_800 }
            self.unpublished = try elsewhere.publishList { _ in }
            var stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
            self.forged = try stranger.publishList { $0.refreshAfter = 1_800 }
        }

        func run(_ body: @Sendable (RunningService) async throws -> Void) async throws {
            let repository = self.repository
            let lists = [repository.lists[0], self.second]
            try await TestedStore.sqlite.withDatabase { open in
                try await RunningService.with(try open(), { $0.roots = repository.anchors }) { service in
                    let token = try await service.token(.publish, ["com.example.app"])
                    #expect(
                        try await service.publish([repository.roots[0], lists[0]], token: token).status == 200)
                    #expect(try await service.publish([lists[1]], token: token).status == 200)
                    try await body(service)
                }
            }
        }
    }

    private static func evidence(_ service: RunningService) async throws -> [[UInt8]] {
        try await service.store.read { store in
            try store.connection.rows("SELECT envelope FROM evidence ORDER BY digest", []).map { try $0.blob(0) }
        }
    }

    @Test("signed by our signers, and not what was published: kept as evidence once, logged, and an alarm")
    func proof() async throws {
        let scene = try Scene()
        let (other, unpublished, anchors) = (scene.other, scene.unpublished, scene.repository.anchors)
        try await scene.run { service in
            for _ in 0..<3 { #expect(try await service.report(Self.incident(other)).status == 202) }
            #expect(try await Self.evidence(service) == [other])
            let entries = try await service.store.read {
                try $0.auditEntries(of: ["equivocation"], since: TurnedClock.start)
            }
            #expect(entries.count == 1)
            #expect(entries.first?.actor == "report")
            let detail = entries.first?.detail ?? ""
            #expect(detail.hasPrefix("com.example.app: a client was offered another list of version 2, "))
            #expect(detail.hasSuffix(Envelope.digest(of: other)))
            // A version that nobody published here.
            #expect(try await service.report(Self.incident(unpublished)).status == 202)
            #expect(Set(try await Self.evidence(service)) == [other, unpublished])
            let parts = ServiceParts.story(service.store, anchors: anchors)
            _ = try await parts.lists.reload(from: service.store)
            let alarms = AlarmRules.alarms(try await parts.overview())
            #expect(alarms.map(\.kind) == [.equivocation, .equivocation])
            #expect(alarms.allSatisfy { $0.severity == .critical && $0.subject == "com.example.app" })
        }
    }

    @Test("what anybody can make up, what was published, and what says the same proves nothing")
    func noProof() async throws {
        let scene = try Scene()
        let name = "com.example.app"
        let bodies = [
            Self.incident(scene.forged), Self.incident(scene.second), Self.incident(scene.resigned),
            Self.incident(scene.repository.lists[0]), Self.incident(scene.repository.roots[0]),
            Self.incident(Array("{}".utf8)), Self.incident(scene.other, name: "com.example.other"),
            Self.incident(scene.other.dropLast(40) + Array("\"}]}".utf8)), Self.incident(Array(name.utf8)),
        ]
        try await scene.run { service in
            for body in bodies {
                let answer = try await service.report(body)
                #expect(answer.status == 202)
            }
            let (evidence, actions) = (try await Self.evidence(service), try await service.actions())
            #expect(evidence.isEmpty)
            #expect(actions == ["publish", "publish", "publish"])
        }
    }
}
