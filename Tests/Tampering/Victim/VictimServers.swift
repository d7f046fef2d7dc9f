// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PinListMetadata
import PinningTesting

/// The servers that victims talk to, and the lists that they have.
enum VictimServers {
    /// The host of both.
    static let host = "api.example.com"

    /// Serves until the input ends.
    ///
    /// - Parameter folder: Where what clients need is written to.
    static func run(in folder: String) async throws {
        let pki = try VictimPKI(host: self.host)
        let pinned = try await self.server(pki.pinned.tls)
        let foreign = try await self.server(pki.foreign.tls)
        let pin = try Pin(publicKeyOf: pki.pinned.der)
        let entry = PinnedDomain(
            try HostName(self.host), pins: [KnownPin(pin), KnownPin(Pin(kind: .publicKey, hashing: [1]))])
        // Two who sign, of both algorithms.
        var repository = try RepositorySimulator(
            at: Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970) - 60), pinsKeys: (2, 2),
            domains: [PinList.Domain(entry)])
        var forged = repository.list
        forged.version += 1
        try self.write(Data(repository.roots[0]), "root.json", folder)
        try self.write(Data(repository.lists[0]), "list.json", folder)
        try self.write(Data(self.forge(forged, &repository)), "offered.json", folder)
        try self.write(Data(pki.authority.utf8), "authority.pem", folder)
        let stage = Stage(
            host: self.host, pinnedPort: pinned.localAddress?.port ?? 0, foreignPort: foreign.localAddress?.port ?? 0,
            pin: self.text(pin.digest), foreignLeaf: self.text(try pki.foreign.der), forgedVersion: forged.version,
            verdictOffset: MemoryLayout<PinningDecision>.offset(of: \.verdict) ?? -1, allowingByte: self.allowingByte)
        try self.write(try JSONEncoder().encode(stage), "stage.json", folder)
        Victim.say(["ready": true])
        while readLine() != nil {}
    }

    /// A list under the names of those who may sign, by foreign keys.
    private static func forge(_ list: PinList, _ repository: inout RepositorySimulator) throws -> [UInt8] {
        var envelope = Envelope(payloadType: Envelope.payloadType(of: .pins), payload: list.payload)
        for key in repository.pinsKeys {
            try envelope.sign(by: repository.newKey(key.publicKey.algorithm), hint: key.keyID)
        }
        return envelope.bytes
    }

    private static var allowingByte: UInt8 {
        withUnsafeBytes(of: PinningDecision.Verdict.allow) { $0.first ?? 0 }
    }

    private static func write(_ bytes: Data, _ file: String, _ folder: String) throws {
        try bytes.write(to: URL(fileURLWithPath: Stage.path(file, folder)))
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func server(_ tls: TLSConfiguration) async throws -> any Channel {
        let context = try NIOSSLContext(configuration: tls)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Hello())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Answers `hello`, and closes.
    private final class Hello: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = self.unwrapInboundIn(data) else { return }
            let headers = HTTPHeaders([("Content-Length", "5"), ("Connection", "close")])
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            context.write(self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "hello")))), promise: nil)
            let channel = context.channel
            context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
