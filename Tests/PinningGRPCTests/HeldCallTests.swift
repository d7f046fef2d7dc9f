// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOConcurrencyHelpers
import NIOCore
import PinListClient
import PinningGRPC
import Testing

@Suite("A call of gRPC that waits for a verdict")
struct HeldCallTests {
    static let host = "api.example.com"

    @Test("is not asked for its messages before, and is answered after")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isNotAskedForItsMessagesBeforeAndIsAnsweredAfter() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let seen = SeenConnections()
        let taken = NIOLockedValueBox(0)
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                relay.set(CuttingRelay.Plan(relayed: 0))
                try await scene.withClient(of: Self.host, at: relay.port, seen: seen) { client in
                    async let answer = client.clientStreaming(
                        request: StreamingClientRequest { writer in
                            try await writer.write([1, 2, 3])
                            taken.withLockedValue { $0 += 1 }
                        },
                        descriptor: LoopbackGRPCServer.echo, serializer: BytesCoder(), deserializer: BytesCoder(),
                        options: .defaults
                    ) { try $0.message }
                    await relay.untilHeld(1)
                    let channel = try #require(seen.all.first)
                    while !channel.isActive { await Task.yield() }
                    // What gRPC itself writes has made it unwritable.
                    try await channel.eventLoop.submit {}.get()
                    #expect(!channel.isWritable)
                    #expect(taken.withLockedValue { $0 } == 0)
                    relay.answerHeld()
                    let bytes = try await answer
                    #expect(bytes == [1, 2, 3])
                    #expect(channel.isWritable)
                }
            }
            #expect(server.counts == .init(connections: 1, streams: 1, calls: 1))
        }
    }
}
#endif
