// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SecurityShim

extension TaskRun {
    /// Where a request goes.
    static func endpoint(of url: URL) -> SimulatedNetwork.Endpoint? {
        guard let host = url.host, let scheme = url.scheme?.lowercased() else { return nil }
        switch scheme {
        case "https", "wss": return SimulatedNetwork.Endpoint(host, url.port ?? 443)
        case "http", "ws": return SimulatedNetwork.Endpoint(host, url.port ?? 80)
        default: return nil
        }
    }

    /// A connection for a request: one that is open, or a new one with its challenges.
    func connection(for url: URL) async throws -> SimulatedConnection {
        guard let endpoint = Self.endpoint(of: url) else { throw URLError(.unsupportedURL) }
        try await self.waitForNetwork()
        guard let server = self.network.with({ $0.servers[endpoint] }) else { throw URLError(.cannotFindHost) }
        if let open = self.session.pool.take(endpoint) { return self.noted(open, server, isReused: true) }
        if let other = self.network.with({ $0.coalescing[endpoint] }), let open = self.session.pool.take(other) {
            return self.noted(open, server, isReused: true)
        }
        let isSecure = ["https", "wss"].contains(url.scheme?.lowercased())
        let connection = try await self.open(endpoint, server, isSecure: isSecure)
        self.session.pool.add(connection)
        return self.noted(connection, server, isReused: false)
    }

    /// Opens a connection: the challenges, unless TLS is resumed.
    func open(
        _ endpoint: SimulatedNetwork.Endpoint, _ server: SimulatedNetwork.Server, isSecure: Bool
    ) async throws -> SimulatedConnection {
        if isSecure {
            self.network.with { $0.traffic[endpoint, default: SimulatedNetwork.Traffic()].handshakes += 1 }
            if !self.resumes(endpoint) {
                for challenge in server.challenges { try await self.meet(challenge, endpoint, server) }
            }
        }
        let port = self.network.with { state in
            state.known.insert(endpoint)
            state.traffic[endpoint, default: SimulatedNetwork.Traffic()].connections += 1
            state.nextLocalPort += 1
            return state.nextLocalPort
        }
        return SimulatedConnection(endpoint, version: server.version, localPort: port)
    }

    private func resumes(_ endpoint: SimulatedNetwork.Endpoint) -> Bool {
        switch self.network.settings.resumption {
        case .never: false
        case .withinSession: self.session.pool.knows(endpoint)
        case .acrossSessions: self.network.with { $0.known.contains(endpoint) }
        }
    }

    /// Without a network, a task waits when its session does, and there is one then.
    private func waitForNetwork() async throws {
        guard self.network.settings.isOffline else { return }
        guard self.session.configuration.waitsForConnectivity else { throw URLError(.notConnectedToInternet) }
        await self.tell { run in
            run.task.listener?.urlSession(run.session, taskIsWaitingForConnectivity: run.task)
        }
        try self.checkCancellation()
    }

    /// Measures what is known of a connection.
    private func noted(
        _ connection: SimulatedConnection, _ server: SimulatedNetwork.Server, isReused: Bool
    ) -> SimulatedConnection {
        let settings = self.network.settings
        let peer = self.network.with { $0.servers[connection.endpoint] } ?? server
        self.measured.change { values in
            values.isReused = isReused
            values.isProxy = peer.isBehindProxy
            values.version = connection.version
            values.secureConnectionStart = isReused ? nil : values.fetchStart
            values.fetchType = settings.fetchType
            guard settings.reportsEndpoints else { return }
            values.local = ("192.0.2.200", settings.isRelayed ? 50_000 : connection.localPort)
            values.remote = settings.isRelayed ? ("192.0.2.201", 443) : (peer.address, connection.endpoint.port)
        }
        return connection
    }

    /// Asks one question of a connection, and does what the answer says.
    private func meet(
        _ challenge: SimulatedNetwork.Challenge, _ endpoint: SimulatedNetwork.Endpoint,
        _ server: SimulatedNetwork.Server
    ) async throws {
        let host = endpoint.host
        let port = endpoint.port
        switch challenge {
        case .serverTrust: try await self.trust(endpoint, server)
        case .clientCertificate:
            try await self.goOn(
                URLProtectionSpace(
                    host: host, port: port, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodClientCertificate), refused: nil)
        case .other(let method):
            try await self.goOn(
                URLProtectionSpace(
                    host: host, port: port, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                    authenticationMethod: method), refused: nil)
        case .proxy(let proxy, let proxyPort):
            try await self.goOn(
                URLProtectionSpace(
                    proxyHost: proxy, port: proxyPort, type: NSURLProtectionSpaceHTTPSProxy, realm: "proxy",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic), refused: .userAuthenticationRequired)
        case .httpBasic: return
        }
    }

    /// Asks for something that the connection can do without, or not: then `refused` says how it fails.
    private func goOn(_ space: URLProtectionSpace, refused: URLError.Code?) async throws {
        switch try await self.answer(space).disposition {
        case .useCredential: return
        case .cancelAuthenticationChallenge: throw URLError(.cancelled)
        case .performDefaultHandling, .rejectProtectionSpace:
            if let refused { throw URLError(refused) }
        }
    }

    /// The error of a server that is not trusted, with its chain.
    private static func untrusted(_ trust: SecTrust) -> URLError {
        URLError(.serverCertificateUntrusted, userInfo: [NSURLErrorFailingURLPeerTrustErrorKey: trust])
    }

    /// Asks whether the server is trusted.
    private func trust(_ endpoint: SimulatedNetwork.Endpoint, _ server: SimulatedNetwork.Server) async throws {
        let presented = server.presented.map { SecCertificate(der: $0) }
        var trust: SecTrust?
        guard !presented.isEmpty, !presented.contains(where: { $0 == nil }) else {
            throw URLError(.secureConnectionFailed)
        }
        SecTrustCreateWithCertificates(
            presented.compactMap { $0 } as CFArray, SecPolicyCreateSSL(true, NSString(string: endpoint.host)), &trust)
        guard let trust else { throw URLError(.secureConnectionFailed) }
        let space = URLProtectionSpace(
            host: endpoint.host, port: endpoint.port, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, proxyType: nil, serverTrust: trust)
        let carried = Carried(value: trust)
        let answer = try await self.answer(space)
        switch answer.disposition {
        case .useCredential where answer.hasTrust: return
        case .useCredential where !answer.hasCredential, .performDefaultHandling:
            guard SecTrustEvaluateWithError(carried.value, nil) else { throw Self.untrusted(carried.value) }
        case .useCredential, .rejectProtectionSpace: throw Self.untrusted(carried.value)
        case .cancelAuthenticationChallenge: throw URLError(.cancelled)
        }
        try self.checkCancellation()
    }
}
