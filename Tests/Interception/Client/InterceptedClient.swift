// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOSSL
import PinListClient
import PinningGRPC
import PinningTesting

/// Clients that `tumbler intercept` starts once for each case: they ask `TUMBLER_HOST` at `TUMBLER_PORT` of loopback,
/// once, and trust the certificates of a file.
///
///     intercepted-client http TRUSTED.pem              AsyncHTTPClient without pins
///     intercepted-client grpc TRUSTED.pem [PIN]        grpc-swift-2, without pins or through PinningGRPC
///     intercepted-client serve KEY.pem CHAIN.pem…      the server that gRPC asks; says `ACCEPT 127.0.0.1:PORT`, and
///                                                      runs until it is killed
@main
struct InterceptedClient {
    /// The time for a call: a client that hangs would hold up all other cases.
    private static let seconds: Int64 = 20

    static func main() async {
        do { try await self.run(Array(CommandLine.arguments.dropFirst())) } catch {
            FileHandle.standardError.write(Data("intercepted-client: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("http", 2): try await self.get(trusting: arguments[1])
        case ("grpc", 2): try await self.call(try self.plainTransport(trusting: arguments[1]))
        case ("grpc", 3): try await self.call(try self.pinnedTransport(trusting: arguments[1], arguments[2]))
        case ("serve", 3...): try await self.serve(key: arguments[1], chain: Array(arguments[2...]))
        default:
            FileHandle.standardError.write(Data("usage: intercepted-client http|grpc|serve FILE…\n".utf8))
            exit(64)
        }
    }

    /// The host and the port that the bench names.
    private static func server() throws -> (host: String, port: Int) {
        let environment = ProcessInfo.processInfo.environment
        guard let host = environment["TUMBLER_HOST"], let port = environment["TUMBLER_PORT"].flatMap({ Int($0) }) else {
            throw NoBench()
        }
        return (host, port)
    }

    private static func configuration(trusting path: String) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
        return tls
    }

    private static func get(trusting path: String) async throws {
        let (host, port) = try self.server()
        var configuration = HTTPClient.Configuration(tlsConfiguration: try self.configuration(trusting: path))
        configuration.dnsOverride = [host: "127.0.0.1"]
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(configuration: configuration)
        let result: Result<Void, any Error>
        do {
            let answer = try await client.execute(
                HTTPClientRequest(url: "https://\(host):\(port)/"), timeout: .seconds(self.seconds))
            _ = try await answer.body.collect(upTo: 1 << 20)
            result = .success(())
        } catch { result = .failure(error) }
        try await client.shutdown()
        try result.get()
    }

    private static func plainTransport(trusting path: String) throws -> HTTP2ClientTransport.Posix {
        let (host, port) = try self.server()
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.http2.authority = host
        let trusted = try NIOSSLCertificate.fromPEMFile(path).map { try $0.toDERBytes() }
        return try HTTP2ClientTransport.Posix(
            target: .ipv4(address: "127.0.0.1", port: port),
            transportSecurity: .tls { $0.trustRoots = .certificates(trusted.map { .bytes($0, format: .der) }) },
            config: config)
    }

    private static func pinnedTransport(trusting path: String, _ pin: String) throws -> HTTP2ClientTransport.Posix {
        let (host, port) = try self.server()
        let entry = PinnedDomain(try HostName(host), pins: [KnownPin(try Pin(pin))])
        let pinning = Pinning(
            policy: try PinningPolicy(domains: [entry]), state: .memory,
            configuration: PinningConfiguration(fetcher: NoNetwork(), reportSender: NoNetwork()))
        return try HTTP2ClientTransport.Posix.pinned(
            to: .ipv4(address: "127.0.0.1", port: port), by: pinning, for: host, port: port,
            tls: try self.configuration(trusting: path))
    }

    /// Makes one call. The server has no methods: that it says so is an answer, too.
    private static func call(_ transport: HTTP2ClientTransport.Posix) async throws {
        var options = CallOptions.defaults
        options.timeout = .seconds(self.seconds)
        try await withGRPCClient(transport: transport) { [options] client in
            do {
                _ = try await client.unary(
                    request: ClientRequest(message: [1, 2, 3]),
                    descriptor: MethodDescriptor(fullyQualifiedService: "intercepted.Client", method: "Call"),
                    serializer: PlainBytes(), deserializer: PlainBytes(), options: options
                ) { try $0.message }
            } catch let error as RPCError where error.code == .unimplemented {}
        }
    }

    private static func serve(key: String, chain: [String]) async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0),
            transportSecurity: .tls(
                certificateChain: chain.map { .file(path: $0, format: .pem) },
                privateKey: .file(path: key, format: .pem)))
        let server = GRPCServer(transport: transport, services: [])
        async let serving: Void = server.serve()
        let port = try await transport.listeningAddress.ipv4?.port ?? 0
        FileHandle.standardOutput.write(Data("ACCEPT 127.0.0.1:\(port)\n".utf8))
        try await serving
    }
}

/// The variables that the bench sets are not there.
private struct NoBench: Error, CustomStringConvertible {
    let description = "TUMBLER_HOST or TUMBLER_PORT is not set: start it by tumbler intercept … -- COMMAND"
}

/// Bytes as they are.
private struct PlainBytes: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
        bytes.withUnsafeBytes { Array($0) }
    }
}
