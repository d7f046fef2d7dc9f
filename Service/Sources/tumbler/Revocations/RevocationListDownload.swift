// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PathValidation
@_spi(Tools) import PinningNIO

/// Fetches revocation lists (formats.md, section 8). Addresses stand in certificates, and any person may have one made: no
/// certificate leads to this machine, or into a network that the world does not reach.
struct RevocationListDownload: Sendable {
    /// The maximum number of redirects (formats.md, section 8).
    static let maximumRedirects = 3
    /// The maximum time that one list may take, its redirects included, unless ``Connections/totalTimeout`` says
    /// otherwise.
    static let timeout = Duration.seconds(30)
    /// The maximum number of addresses of a host that are tried: each may take the whole wait for a connection.
    private static let maximumPlaces = 4

    /// The anchors, the family of addresses and the maximum waits of connections. No list is asked for elsewhere, or
    /// through a proxy: it is connected to what was looked up here, or a certificate could lead anywhere.
    let connections: Connections

    private var timeout: Duration { self.connections.totalTimeout ?? Self.timeout }
    private var connectTimeout: Duration { self.connections.connectTimeout }

    /// The reason for which there is no list.
    struct DownloadError: Error {
        /// The reason, without a full stop.
        let reason: String
        /// Whether there was no connection, or no answer in time.
        let isUnreached: Bool

        /// States it.
        init(_ reason: String, isUnreached: Bool = false) {
            self.reason = reason
            self.isUnreached = isUnreached
        }
    }

    /// The addresses of a host.
    private struct Place {
        /// Its addresses, those that may be asked.
        let addresses: [String]
        /// Whether one of them is local.
        let isLocal: Bool
    }

    private enum Answer {
        case list([UInt8])
        case elsewhere(FetchAddress)
    }

    /// Fetches a list.
    ///
    /// - Parameters:
    ///   - address: Its `http` or `https` address. A list is signed, so `http` is as good.
    ///   - isGiven: Whether the operator names it, and no certificate: it may be at a local address then, and redirect to
    ///     another one from there.
    /// - Returns: What the server gave, at most ``RevocationLists/maximumLength`` bytes.
    /// - Throws: ``DownloadError``.
    func bytes(at address: String, isGiven: Bool) async throws(DownloadError) -> [UInt8] {
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await self.follow(address, isGiven) }
                group.addTask {
                    try await Task.sleep(for: self.timeout)
                    throw DownloadError("no whole answer within \(self.timeout)", isUnreached: true)
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw DownloadError("nothing was asked") }
                return first
            }
        } catch let trouble as DownloadError {
            throw trouble
        } catch let error as CommandError {
            throw DownloadError(error.message)
        } catch {
            let problem = self.problem(error)
            throw DownloadError(
                "\(problem)" + (problem.hint.map { "; \($0)" } ?? ""),
                isUnreached: problem.kind == .connection || error as? HTTPClientError == .deadlineExceeded)
        }
    }

    private func problem(_ error: any Error) -> NetworkProblem {
        NetworkProblem(
            error, NetworkProblem.Limits(connect: TimeAmount(self.connectTimeout), answer: TimeAmount(self.timeout)))
    }

    private func follow(_ text: String, _ isGiven: Bool) async throws -> [UInt8] {
        guard var address = FetchAddress(text) else {
            throw DownloadError("not an http or https URL without name and password")
        }
        var mayBeLocal = isGiven
        for _ in 0...Self.maximumRedirects {
            let place = try await self.place(of: address, mayBeLocal: mayBeLocal)
            switch try await self.ask(address, at: place.addresses) {
            case .list(let bytes): return bytes
            case .elsewhere(let next):
                mayBeLocal = mayBeLocal && place.isLocal
                address = next
            }
        }
        throw DownloadError("over \(Self.maximumRedirects) redirects")
    }

    /// The addresses of a host that may be asked: a name of the world may lead anywhere.
    private func place(of address: FetchAddress, mayBeLocal: Bool) async throws -> Place {
        let found: [String]
        do {
            found = try await HostAddresses.all(
                of: address.host, within: self.connectTimeout, self.connections.family, .usable)
        } catch {
            throw DownloadError(
                "\(address.host): no answer from the resolver within \(self.connectTimeout)", isUnreached: true)
        }
        guard !found.isEmpty else { throw DownloadError("\(address.host): no such host", isUnreached: true) }
        // An address with the name of an interface is no host, and is local.
        let outside = found.filter { (try? HostName($0)).map { !$0.isLocal } ?? false }
        if mayBeLocal { return Place(addresses: found, isLocal: outside.count < found.count) }
        guard !outside.isEmpty, !address.host.isLocal else {
            throw DownloadError("\(address.host) is at no public address, and is not asked; --crl URL asks it")
        }
        return Place(addresses: outside, isLocal: false)
    }

    /// Asks the first address that takes a connection. What was looked up is what is connected to.
    private func ask(_ address: FetchAddress, at places: [String]) async throws -> Answer {
        var failure: any Error = DownloadError("\(address.host): no address")
        for place in places.prefix(Self.maximumPlaces) {
            do {
                return try await self.ask(address, at: place)
            } catch let error as DownloadError {
                throw error
            } catch {
                failure = error
                if self.problem(error).kind != .connection { break }
            }
        }
        throw failure
    }

    private func ask(_ address: FetchAddress, at place: String) async throws -> Answer {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: try self.connections.tls(), redirectConfiguration: .disallow)
        configuration.timeout.connect = TimeAmount(self.connectTimeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        // With HTTP/2 a status that is no number of three digits would end the process.
        configuration.httpVersion = .http1Only
        if !address.host.isAddress {
            configuration.dnsOverride[address.writtenHost] = place
            configuration.dnsOverride[address.host.description] = place
        }
        let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
        let answer: Result<Answer, any Error>
        do { answer = .success(try await self.ask(address, client)) } catch { answer = .failure(error) }
        try? await client.shutdown()
        return try answer.get()
    }

    private func ask(_ address: FetchAddress, _ client: HTTPClient) async throws -> Answer {
        var request = HTTPClientRequest(url: address.url())
        request.headers.add(name: "Host", value: address.hostHeader)
        request.headers.add(name: "User-Agent", value: "tumbler")
        request.headers.add(name: "Accept", value: "application/pkix-crl, */*")
        request.headers.add(name: "Accept-Encoding", value: "identity")
        let response = try await client.execute(request, timeout: TimeAmount(self.timeout))
        switch response.status.code {
        case 200: return .list(try await Self.read(response))
        case 301, 302, 303, 307, 308:
            guard let next = response.headers.first(name: "Location").flatMap({ address.redirected(to: $0) }) else {
                throw DownloadError("\(address.host) redirects to something that is not an http or https URL")
            }
            return .elsewhere(next)
        default: throw DownloadError("\(address.host) answers \(response.status.code)")
        }
    }

    private static func read(_ response: HTTPClientResponse) async throws -> [UInt8] {
        let maximum = RevocationLists.maximumLength
        let tooLarge = DownloadError("the list is over \(maximum >> 20) MiB")
        if let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }) {
            guard length <= maximum else { throw tooLarge }
        }
        var body: [UInt8] = []
        for try await bytes in response.body {
            guard body.count + bytes.readableBytes <= maximum else { throw tooLarge }
            body += bytes.readableBytesView
        }
        return body
    }
}
