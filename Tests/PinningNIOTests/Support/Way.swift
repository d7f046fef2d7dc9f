// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// The way of a client to what it takes for the server.
struct Way {
    /// The server's name.
    static let host = "api.example.com"

    /// Where the name leads.
    var address = "127.0.0.1"
    /// The port.
    var port: Int
    /// The port of a CONNECT proxy on loopback to go through.
    var proxy: Int?
    /// What the machine trusts.
    var roots: [NIOSSLCertificate]
    /// Whose network it is.
    var group = MultiThreadedEventLoopGroup.singleton
    /// Whether the server speaks HTTP/2, and not HTTP/1.1.
    var http2: Bool

    /// TLS settings that trust the roots.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(self.roots)
        return tls
    }

    /// AsyncHTTPClient's settings. A refusal must never wait for the connect timeout, so that is longer than any test.
    var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: self.tls, redirectConfiguration: .disallow)
        configuration.dnsOverride = [Self.host: self.address]
        configuration.timeout.connect = .hours(1)
        configuration.proxy = self.proxy.map { .server(host: "127.0.0.1", port: $0) }
        return configuration
    }
}
#endif
