// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting

/// The client: a number of requests, over AsyncHTTPClient as it is or pinned, on one event loop.
struct Fetching {
    /// The server's name.
    static let host = "api.example.com"

    /// Over which connections.
    enum Manner: String {
        /// One client, a connection for each request: `Connection: close`.
        case fresh
        /// A client for each request: nothing is remembered.
        case first
        /// One client, one connection.
        case kept
    }

    /// With what.
    enum Kind: String {
        /// AsyncHTTPClient.
        case plain
        /// The same, with a pinned configuration.
        case configured
        /// `PinnedHTTPClient`, with redirects and the second check.
        case pinned
        /// The same, with a list that asks for a policy of Certificate Transparency.
        case evaluated
    }

    private let kind: Kind
    private let manner: Manner
    private let count: Int
    private let port: Int
    private let folder: URL
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(_ arguments: inout ArraySlice<String>) throws {
        guard let kind = arguments.popFirst().flatMap(Kind.init(rawValue:)),
            let manner = arguments.popFirst().flatMap(Manner.init(rawValue:)),
            let count = arguments.popFirst().flatMap({ Int($0) }), let port = arguments.popFirst().flatMap({ Int($0) }),
            let folder = arguments.popFirst()
        else { throw Main.Usage() }
        self.kind = kind
        self.manner = manner
        self.count = count
        self.port = port
        self.folder = URL(fileURLWithPath: folder)
    }

    /// Says how many nanoseconds the requests took.
    func run() async throws {
        let roots = try NIOSSLCertificate.fromPEMFile(self.folder.appendingPathComponent("root.pem").path)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(roots)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.dnsOverride = [Self.host: "127.0.0.1"]
        let pinning = self.kind == .plain ? nil : try self.pinning()
        let start = DispatchTime.now()
        if let pinning, self.kind == .pinned || self.kind == .evaluated {
            try await self.fetch(
                { try PinnedHTTPClient(by: pinning, configuration: configuration, on: self.group) },
                { try await $0.execute($1, timeout: .seconds(60)) }, { try await $0.shutdown() })
        } else {
            if let pinning {
                configuration.redirectConfiguration = .disallow
                configuration = try configuration.pinned(
                    by: pinning, for: Self.host, port: self.port, on: self.group)
            }
            let settings = configuration
            try await self.fetch(
                { HTTPClient(eventLoopGroup: self.group, configuration: settings) },
                { try await $0.execute($1, timeout: .seconds(60)) }, { try await $0.shutdown() })
        }
        precondition(self.count == 0 || pinning?.decisionCounts.keys.elementsEqual([.pinMatch]) ?? true)
        print(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds)
    }

    private func fetch<Client>(
        _ make: () throws -> Client, _ execute: (Client, HTTPClientRequest) async throws -> HTTPClientResponse,
        _ shutDown: (Client) async throws -> Void
    ) async throws {
        var request = HTTPClientRequest(url: "https://\(Self.host):\(self.port)/")
        if self.manner != .kept { request.headers.add(name: "Connection", value: "close") }
        var client = try make()
        for number in 0..<self.count {
            if self.manner == .first, number > 0 {
                try await shutDown(client)
                client = try make()
            }
            let response = try await execute(client, request)
            let body = try await response.body.collect(upTo: 1_024)
            precondition(body.readableBytes == 5)
        }
        try await shutDown(client)
    }

    /// A signed list of 100 entries; the server's has its pin and one for a rainy day.
    private func pinning() throws -> Pinning {
        let pin = try Pin(String(contentsOf: self.folder.appendingPathComponent("pin"), encoding: .utf8))
        let spare = Pin(kind: .publicKey, hashing: [1])
        let hosts = (1..<100).map { "host-\($0).example.com" }
        let domains = try hosts.map { PinnedDomain(try HostName($0), pins: [KnownPin(spare)]) }
        var entry = PinnedDomain(try HostName(Self.host), pins: [KnownPin(spare), KnownPin(pin)])
        let logs = self.folder.appendingPathComponent("logs.json")
        let file = self.kind == .evaluated ? Array(try Data(contentsOf: logs)) : nil
        if file != nil { entry.transparency = TransparencyRule(.enforce, .chrome) }
        let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
        var repository = try RepositorySimulator(at: now, domains: (domains + [entry]).map { PinList.Domain($0) })
        _ = try repository.publishList { $0.logs = file.flatMap { ListedLogs(of: $0) } }
        return try Pinning(
            root: .bytes(repository.roots[0]), list: .bytes(repository.lists[repository.lists.count - 1]),
            logs: file.map { .bytes($0) }, refreshFrom: nil, state: .memory,
            configuration: PinningConfiguration(fetcher: NoNetwork(), reportSender: NoNetwork()))
    }
}
