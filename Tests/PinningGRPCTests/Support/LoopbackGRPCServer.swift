// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOConcurrencyHelpers
import NIOCore

/// A gRPC server on loopback, which counts what reaches it: `Echo` gives back what it was sent, `Wait` does so only
/// once it is told to.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
final class LoopbackGRPCServer: RegistrableRPCService {
    static let echo = MethodDescriptor(fullyQualifiedService: "test.Loopback", method: "Echo")
    static let wait = MethodDescriptor(fullyQualifiedService: "test.Loopback", method: "Wait")

    /// What reached the server.
    struct Counts: Sendable, Equatable {
        /// Connections that were accepted.
        var connections = 0
        /// Streams of HTTP/2, one for each RPC.
        var streams = 0
        /// RPCs whose request was read.
        var calls = 0
    }

    private let box = NIOLockedValueBox<(counts: Counts, port: Int, channels: [any Channel])>((Counts(), 0, []))
    private let arrived = AsyncStream.makeStream(of: Void.self)
    private let answers = AsyncStream.makeStream(of: Void.self)

    private init() {}

    /// Runs a server while something is done with it.
    ///
    /// - Parameter chain: What it presents; `nil` for a server without TLS.
    static func with<Result: Sendable>(
        _ chain: [TestCertificate]?, _ body: (LoopbackGRPCServer) async throws -> Result
    ) async throws -> Result {
        let server = LoopbackGRPCServer()
        var config = HTTP2ServerTransport.Posix.Config.defaults
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
            server.box.withLockedValue {
                $0.counts.connections += 1
                $0.channels.append(channel)
            }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            server.box.withLockedValue { $0.counts.streams += 1 }
            return stream.eventLoop.makeSucceededVoidFuture()
        }
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: try Self.security(chain), config: config)
        return try await withGRPCServer(transport: transport, services: [server]) { running in
            let address = try await running.transport.listeningAddress
            server.box.withLockedValue { $0.port = address.ipv4?.port ?? 0 }
            // No RPC may keep the server from ending.
            defer { server.answers.continuation.finish() }
            return try await body(server)
        }
    }

    private static func security(
        _ chain: [TestCertificate]?
    ) throws -> HTTP2ServerTransport.Posix.TransportSecurity {
        guard let chain else { return .plaintext }
        return .tls(
            certificateChain: chain.map { .bytes($0.der, format: .der) },
            privateKey: .bytes(Array(try chain[0].keyPEM.utf8), format: .pem))
    }

    /// The port, chosen by the system.
    var port: Int { self.box.withLockedValue { $0.port } }

    /// What reached the server so far.
    var counts: Counts { self.box.withLockedValue { $0.counts } }

    /// Returns when a `Wait` has arrived.
    func arrivalOfWait() async {
        for await _ in self.arrived.stream { return }
    }

    /// Answers the `Wait` that is there.
    func answer() { self.answers.continuation.yield() }

    /// Returns when all connections that were accepted so far are closed.
    func endOfConnections() async throws {
        for channel in self.box.withLockedValue({ $0.channels }) { try await channel.closeFuture.get() }
    }

    /// Registers both methods.
    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        for method in [Self.echo, Self.wait] {
            router.registerHandler(forMethod: method, deserializer: BytesCoder(), serializer: BytesCoder()) {
                request, _ in
                let message = try await ServerRequest(stream: request).message
                self.box.withLockedValue { $0.counts.calls += 1 }
                if method == Self.wait {
                    self.arrived.continuation.yield()
                    for await _ in self.answers.stream { break }
                }
                return StreamingServerResponse { writer in
                    try await writer.write(message)
                    return [:]
                }
            }
        }
    }
}

/// Bytes as they are.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
struct BytesCoder: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
        bytes.withUnsafeBytes { Array($0) }
    }
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension GRPCClient {
    /// Calls one of the server's methods with some bytes, and gives back those that it answers.
    func call(_ method: MethodDescriptor = LoopbackGRPCServer.echo) async throws -> [UInt8] {
        try await self.unary(
            request: ClientRequest(message: [1, 2, 3]), descriptor: method, serializer: BytesCoder(),
            deserializer: BytesCoder(), options: .defaults
        ) { try $0.message }
    }
}
#endif
