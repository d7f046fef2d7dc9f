// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import PathValidation
@_spi(Tools) import PinningNIO

/// Connections of a command: what ``ConnectionOptions`` says, for every connection that it makes.
struct Connections: Sendable {
    /// The anchors in place of the system's: a file, or `system`.
    var anchors: String?

    /// The hosts that are asked elsewhere.
    var places: [ConnectTo] = []

    /// The rules on which hosts are asked through a proxy.
    var proxies = ProxyRules.none

    /// The family of addresses that is used; `nil` for both.
    var family: HostAddresses.Family?

    /// The maximum wait for a connection, TLS included.
    var connectTimeout: Duration = LiveServer.timeout

    /// The maximum time that a request may take with its answer; `nil` for what the command has.
    var totalTimeout: Duration?

    /// The place at which a server is asked.
    struct Way: Sendable {
        /// The host that is connected to, or that the proxy connects to: a name or an address.
        var host: HostName
        /// The port there.
        var port: Int
        /// Whether the host is an address that the resolver has for a name.
        var isResolved = false
        /// The proxy, with an address in place of its name where the family matters.
        var proxy: ProxyRules.Proxy?
    }

    /// The same for a server that is beside what a command looks at: a service, or where a list is fetched from. It is
    /// asked elsewhere by its name alone, because a rule without a host is meant for the hosts that are looked at.
    var aside: Connections {
        var connections = self
        connections.places.removeAll { $0.host == nil }
        return connections
    }

    /// Finds the way to a server.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - port: Its port.
    ///   - isTLS: Whether it is asked over TLS.
    /// - Throws: ``CommandError`` when a name has no address of the family that is asked for.
    func way(to host: HostName, _ port: Int, isTLS: Bool = true) async throws(CommandError) -> Way {
        let place = self.places.first { $0.covers(host, port) }
        var way = Way(host: place?.otherHost ?? host, port: place?.otherPort ?? port)
        way.proxy = self.proxies.proxy(for: host, at: way.host, isTLS: isTLS)
        guard self.family != nil else { return way }
        if var proxy = way.proxy {
            let name: HostName
            do throws(InputError) { name = try HostName(proxy.host) } catch {
                throw CommandError(.usage, "the proxy: \(error)")
            }
            proxy.host = try await self.address(of: name).description
            way.proxy = proxy
        } else {
            way.isResolved = !way.host.isAddress && !way.host.isLocal
            way.host = try await self.address(of: way.host)
        }
        return way
    }

    /// The first address of a host that is of the family.
    private func address(of host: HostName) async throws(CommandError) -> HostName {
        guard let family else { return host }
        let found: [String]
        do { found = try await HostAddresses.all(of: host, within: self.connectTimeout, family, .usable) } catch {
            throw CommandError(.undecided, "\(host): no answer from the resolver within \(self.connectTimeout)")
        }
        guard let first = found.lazy.compactMap({ try? HostName($0) }).first else {
            throw CommandError(
                .undecided, "\(host) has no \(family.name) address", hint: "leave out --\(family.rawValue)")
        }
        return first
    }

    /// The anchors of a chain that is examined.
    ///
    /// - Parameter examined: What `--roots` says; `nil` for the anchors of connections.
    /// - Throws: ``CommandError``.
    func roots(_ examined: String? = nil) throws(CommandError) -> RootStore {
        try RootsOption.load(examined ?? self.anchors ?? RootsOption.system)
    }

    /// NIOSSL's settings, with the anchors that are named.
    ///
    /// - Throws: ``CommandError`` when the file holds none.
    func tls() throws(CommandError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        guard let anchors, anchors != RootsOption.system else { return tls }
        let bytes = try InputFile.read(anchors)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw CommandError(.undecided, "\(anchors): no certificate that can be an anchor is in it")
        }
        tls.trustRoots = .certificates(certificates)
        return tls
    }

    /// AsyncHTTPClient's settings for one server.
    ///
    /// - Parameters:
    ///   - address: What is asked.
    ///   - way: The way to it.
    /// - Throws: ``CommandError`` when there are no anchors.
    func configuration(for address: FetchAddress, _ way: Way) throws(CommandError) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try self.tls(), redirectConfiguration: .disallow)
        configuration.timeout.connect = TimeAmount(self.connectTimeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = way.proxy?.configuration
        if way.host != address.host {
            // AsyncHTTPClient looks for the host as it is written, our own handshake for the normalised one.
            configuration.dnsOverride[address.writtenHost] = way.host.description
            configuration.dnsOverride[address.host.description] = way.host.description
        }
        return configuration
    }

    /// A fetcher of lists, as an app's client has one.
    ///
    /// - Parameter address: The address of the list.
    /// - Throws: ``CommandError``. The address is not repeated where it is none: a password may be in it.
    func fetcher(for address: String) async throws(CommandError) -> HTTPClientFetcher {
        guard let server = FetchAddress(address) else {
            throw CommandError(
                .usage, "the address of the list is not an https address",
                hint: "https://HOST/PATH, without name and password")
        }
        let way = try await self.way(to: server.host, server.port, isTLS: server.isTLS)
        let configuration = try self.configuration(for: server, way)
        let connect = Self.seconds(min(self.connectTimeout, self.totalTimeout ?? self.connectTimeout))
        return HTTPClientFetcher(
            configuration, firstByteSeconds: connect,
            totalSeconds: self.totalTimeout.map(Self.seconds) ?? max(connect, FetchRequest.totalSeconds)
        ) { request in
            // A redirect to another server is followed where that one's own name says.
            guard let next = FetchAddress(request.url), next.host == server.host, next.port == server.port,
                way.port != server.port
            else { return }
            request.url = next.url(port: way.port)
            request.headers.replaceOrAdd(name: "Host", value: next.hostHeader)
        }
    }

    private static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension NetworkProblem {
    /// An error of a library as the failure of a command.
    ///
    /// - Parameters:
    ///   - subject: What was asked: the server, or the address.
    ///   - error: What a library threw.
    ///   - connections: How it was asked.
    ///   - answer: The longest wait for an answer.
    static func failure(
        _ subject: String, _ error: any Error, _ connections: Connections, answer: Duration
    ) -> CommandError {
        if let failure = error as? CommandError { return failure }
        let problem = NetworkProblem(
            error, Limits(connect: TimeAmount(connections.connectTimeout), answer: TimeAmount(answer)))
        return CommandError(.undecided, "\(subject): \(problem)", hint: problem.hint)
    }

    /// The next step; `nil` where the sentence says it.
    var hint: String? {
        switch self.kind {
        case .certificate: "--cacert FILE names the anchors of a private CA, in PEM"
        case .proxy: "--proxy http://NAME:PASSWORD@HOST:PORT, or NO_PROXY for hosts that are asked directly"
        default: nil
        }
    }
}
