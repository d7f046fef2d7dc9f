// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import HTTPTypes
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Asking for a list again")
struct ConditionalRequestTests {
    private static let path = "/v1/lists/com.example.app/pins.json"

    private func run(
        _ body: @Sendable (RunningService, String) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                try await body(service, Envelope.digest(of: repository.lists[0]))
            }
        }
    }

    @Test(
        "the list that is held is not sent again, in each form that a proxy gives its tag; anything else brings the list"
    )
    func listThatIsHeldIsNotSentAgainInEachFormThatAProxyGivesItsTag() async throws {
        try await self.run { service, digest in
            let other = String(repeating: "0", count: 64)
            for (field, status) in [
                ("\"\(digest)\"", 304), ("W/\"\(digest)\"", 304), ("\"\(digest)-gzip\"", 304),
                ("W/\"\(digest)-gzip\"", 304), ("\"\(other)\", W/\"\(digest)\"", 304), ("\"\(other)\"", 200),
                ("*", 200), ("", 200), (digest, 200), ("\"\(digest)", 200), ("\"\(digest)\" x", 200), ("\"\"\"", 200),
                (String(repeating: "\"a\",", count: 1_100) + "\"\(digest)\"", 200),
            ] {
                let answer = try await service.ask(.GET, Self.path, ["If-None-Match": field])
                #expect(answer.status == status, "\(field.prefix(80))")
                #expect(answer.headers["etag"] == ["\"\(digest)\""])
                #expect(answer.body.isEmpty == (status == 304))
            }
        }
    }

    @Test("HEAD has the same head and no body; no other method reads a list")
    func headHasTheSameHeadAndNoBodyNoOtherMethodReadsAList() async throws {
        try await self.run { service, digest in
            let whole = try await service.ask(.GET, Self.path)
            let head = try await service.ask(.HEAD, Self.path)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            for name in ["etag", "content-type", "content-length", "cache-control"] {
                #expect(head.headers[name] == whole.headers[name])
            }
            #expect(try await service.ask(.HEAD, Self.path, ["If-None-Match": "\"\(digest)\""]).status == 304)
            for method in [HTTPMethod.POST, .PUT, .DELETE, .OPTIONS, .PATCH] {
                let answer = try await service.ask(method, Self.path)
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == ["GET, HEAD"])
            }
        }
    }

    @Test("the lists that clients hold are counted: installations and caches apart, and no address is kept")
    func listsThatClientsHoldAreCountedInstallationsAndCachesApartAndNoAddressIsKept() async throws {
        let repository = try RepositorySimulator.story()
        let digest = Envelope.digest(of: repository.lists[0])
        let tag = "\"\(digest)\""
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                for fields in [
                    ["If-None-Match": tag], ["If-None-Match": tag, "X-Forwarded-For": "198.51.100.7"], [:],
                    ["If-None-Match": tag, "Via": "1.1 varnish"],
                    ["If-None-Match": tag, "Forwarded": "for=192.0.2.1"], ["If-None-Match": "*"],
                ] as [HTTPHeaders] {
                    _ = try await service.ask(.GET, Self.path, fields)
                }
                _ = try await service.ask(.HEAD, Self.path, ["If-None-Match": tag])
            }
            // It has ended, and stored what it had counted.
            let counts = try await store.read { try $0.listRequests(of: "com.example.app", since: 0) }
            func key(_ source: ListRequestKey.Source, _ digest: String) -> ListRequestKey {
                ListRequestKey(name: "com.example.app", hour: TurnedClock.start.hour, source: source, digest: digest)
            }
            #expect(counts == [key(.installation, digest): 2, key(.installation, ""): 2, key(.edge, digest): 2])
        }
    }

    @Test("a configured edge is known by the address of its connection")
    func configuredEdgeIsKnownByTheAddressOfItsConnection() async throws {
        let repository = try RepositorySimulator.story()
        let edge = try #require(NetworkRange("127.0.0.0/8"))
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            let change: @Sendable (inout ServiceConfiguration) -> Void = {
                $0.roots = repository.anchors
                $0.edges = [edge]
            }
            try await RunningService.with(store, change) { service in
                _ = try await service.ask(.GET, Self.path)
            }
            let counts = try await store.read { try $0.listRequests(of: "com.example.app", since: 0) }
            #expect(counts.keys.map(\.source) == [.edge])
        }
    }

    @Test("a configured edge is one by its address alone")
    func configuredEdgeIsOneByItsAddressAlone() throws {
        let source = RequestSource(
            trustedProxies: [try #require(NetworkRange("10.0.0.0/8"))],
            edges: [try #require(NetworkRange("198.51.100.0/24"))])
        #expect(source.isEdge([:], peer: IPAddress(text: "198.51.100.9")))
        #expect(!source.isEdge([.xForwardedFor: "198.51.100.9"], peer: IPAddress(text: "192.0.2.1")))
        #expect(!source.isEdge([:], peer: IPAddress(text: "192.0.2.1")))
        #expect(source.isEdge([try #require(HTTPField.Name("Via")): "1.1 cache"], peer: IPAddress(text: "192.0.2.1")))
        // Of `X-Forwarded-For` only what a trusted proxy wrote is believed.
        let (proxy, client) = (IPAddress(text: "10.1.2.3"), IPAddress(text: "203.0.113.5"))
        #expect(source.address([.xForwardedFor: "192.0.2.66, 203.0.113.5, 10.9.9.9"], peer: proxy) == client)
        #expect(source.address([.xForwardedFor: "192.0.2.66"], peer: client) == client)
        #expect(source.address([.xForwardedFor: "203.0.113.5, nonsense"], peer: proxy) == proxy)
        #expect(source.address([:], peer: proxy) == proxy)
    }

    @Test(
        "Forwarded is believed of a trusted proxy alone, from its end, and not against X-Forwarded-For",
        arguments: [
            ("for=203.0.113.5", nil, "203.0.113.5"),
            ("for=192.0.2.66, For=203.0.113.5;proto=https;by=10.0.0.1, for=10.9.9.9", nil, "203.0.113.5"),
            ("for=\"[2001:db8:cafe::17]:4711\"", nil, "2001:db8:cafe::17"),
            ("for=\"203.0.113.5:80\"; host=\"a,b;for=192.0.2.66\"", nil, "203.0.113.5"),
            ("for=203.0.113.5", "203.0.113.5", "203.0.113.5"),
            // The client may have written every field that the proxy does not write itself.
            ("for=203.0.113.5", "192.0.2.66", "10.1.2.3"), ("for=unknown", nil, "10.1.2.3"),
            ("for=_hidden", nil, "10.1.2.3"), ("for=192.0.2.66, proto=https", nil, "10.1.2.3"),
            ("for=192.0.2.66, for=\"x", nil, "10.1.2.3"),
            // A quoted string that the client opened, and a character that would take the proxy's comma with it.
            ("for=192.0.2.66;x=\", for=203.0.113.5", nil, "10.1.2.3"), ("for=\"203.0.113.5", nil, "10.1.2.3"),
            ("for=192.0.2.66;x=\", for=\"203.0.113.5:80\"", nil, "10.1.2.3"),
            ("for=192.0.2.66;x=\u{600}, for=203.0.113.5", nil, "203.0.113.5"),
            ("", nil, "10.1.2.3"), ("for", nil, "10.1.2.3"),
        ] as [(String, String?, String)])
    func forwardedIsBelievedOfATrustedProxyAloneFromItsEndAndNotAgainstXForwardedFor(
        _ field: String, _ other: String?, _ wanted: String
    ) throws {
        let source = RequestSource(trustedProxies: [try #require(NetworkRange("10.0.0.0/8"))], edges: [])
        let found = source.address(forwardedFor: other, forwarded: field, peer: IPAddress(text: "10.1.2.3"))
        #expect(found == IPAddress(text: wanted))
        let stranger = IPAddress(text: "198.51.100.1")
        #expect(source.address(forwardedFor: other, forwarded: field, peer: stranger) == stranger)
    }
}
