// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import PinListClient
import PinListMetadata
import PinningGRPC
import Testing

@Suite("An open connection of gRPC, when a list comes into force")
struct NewListTests {
    static let host = "api.example.com"

    @Test("stays when it is still allowed")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func staysWhenItIsStillAllowed() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let seen = SeenConnections()
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server, seen: seen) { client in
                _ = try await client.call()
                let entry = try PinnedScene.entry(Self.host, [pki.root.pin, PinnedScene.strangePin])
                let decision = try await scene.publish(entry, andAwaitOn: try #require(seen.all.first))
                #expect(decision?.verdict == .allow)
                _ = try await client.call()
            }
            #expect(server.counts == .init(connections: 1, streams: 2, calls: 2))
        }
    }

    @Test("closes when it is idle and refused, and the next call is refused")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func closesWhenItIsIdleAndRefusedAndTheNextCallIsRefused() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                _ = try await client.call()
                let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
                try await scene.publish { $0.domains = [PinList.Domain(entry)] }
                try await server.endOfConnections()
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .noMatchingPin)
            }
            #expect(server.counts.calls == 1)
        }
    }

    @Test("takes no new call when it is refused, finishes the one that it has, and closes")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func takesNoNewCallWhenItIsRefusedFinishesTheOneThatItHasAndCloses() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let seen = SeenConnections()
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server, seen: seen) { client in
                let first = Task { try await client.call(LoopbackGRPCServer.wait) }
                await server.arrivalOfWait()
                let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
                let decision = try await scene.publish(entry, andAwaitOn: try #require(seen.all.first))
                #expect(decision?.verdict == .block)
                // gRPC hears of it a moment later than the connection; what it sends until then goes the old way.
                var refusal: PinningError?
                let deadline = NIODeadline.now() + .ample
                while refusal == nil, NIODeadline.now() < deadline {
                    do {
                        _ = try await client.call()
                    } catch {
                        refusal = scene.pinning.refusal(for: error, host: Self.host)
                        #expect((error as? RPCError)?.code == .unavailable)
                    }
                }
                #expect(refusal?.decision.reason == .noMatchingPin)
                #expect(seen.all[0].isActive)
                server.answer()
                let answer = try await first.value
                #expect(answer == [1, 2, 3])
                try await server.endOfConnections()
            }
        }
    }

    @Test("ends at once, with the call on it, when its key is denied")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func endsAtOnceWithTheCallOnItWhenItsKeyIsDenied() async throws {
        let pki = try TestPKI([Self.host])
        let pin = try pki.leaf.pin
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let first = Task { try await client.call(LoopbackGRPCServer.wait) }
                await server.arrivalOfWait()
                try await scene.publish { $0.denied = [DeniedKey(pin)] }
                // There is no answer: only the end of the connection ends the call.
                let error = try #require(await #expect(throws: RPCError.self) { try await first.value })
                #expect(error.code == .unavailable)
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .deniedKey)
                try await server.endOfConnections()
            }
        }
    }
}
#endif
