// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One file over HTTP/1.1 from SwiftNIO alone, on one event loop, with answers that were made before: what the service's
/// lists are measured against (scripts/bench-service). It reads no path, counts nothing and bounds nothing.
@main
struct RawListServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard [3, 5].contains(arguments.count) else {
            print("usage: raw-list-server FILE ETAG [CERTIFICATE KEY]")
            return
        }
        let answers = try PreparedAnswers(path: arguments[1], tag: arguments[2])
        let tls = try arguments.count == 5 ? Self.tls(arguments[3], arguments[4]) : nil
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
                    try pipeline.addHandler(PreparedAnswerHandler(answers))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
        try await channel.closeFuture.get()
    }

    private static func tls(_ certificate: String, _ key: String) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }
}
