// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

extension RunningService {
    /// An answer of the service.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        /// The body as text.
        var text: String { String(decoding: self.body, as: UTF8.self) }

        /// A member of a body that is a JSON object, where it is a text.
        func member(_ name: String) -> String? {
            guard case .object(let members)? = try? JSONValue(strict: self.body),
                case .string(let text)? = members.first(where: { $0.name == name })?.value
            else { return nil }
            return text
        }

        /// The code of a problem (RFC 9457).
        var code: String? {
            self.headers["content-type"] == ["application/problem+json"] ? self.member("code") : nil
        }
    }

    /// Waits until a report is held whose answer waits for the store. That a writer waits is no sign of it: the service
    /// writes some things of its own when it starts.
    func untilReportWaits() async {
        while self.intake.waitingCount == 0 { await Task.yield() }
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: How.
    ///   - path: What for.
    ///   - headers: Fields of the request; `Host` replaces the one of the address. Without any a page is asked for with a
    ///     token that reads.
    ///   - body: What is sent.
    ///   - isForAdmin: Whether the operator's listener is asked.
    func ask(
        _ method: HTTPMethod = .GET, _ path: String, _ headers: HTTPHeaders? = nil, _ body: [UInt8]? = nil,
        isForAdmin: Bool = false
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: (isForAdmin ? self.adminAddress : self.address) + path)
        request.method = method
        if let headers {
            request.headers = headers
        } else if method == .GET, !path.hasSuffix(".json"), path != "/healthz" {
            request.headers = ["Authorization": "Bearer \(try await self.token(.read))"]
        }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await self.client.execute(request, timeout: .ample)
        let bytes = try await response.body.collect(upTo: 67_108_864)
        return Answer(
            status: Int(response.status.code), headers: response.headers, body: Array(bytes.readableBytesView))
    }

    /// The port of one of its addresses.
    func port(of address: String) throws -> Int {
        try #require(address.split(separator: ":").last.flatMap { Int($0) })
    }

    /// Posts a report.
    func report(_ body: [UInt8], _ headers: HTTPHeaders = [:]) async throws -> Answer {
        try await self.ask(.POST, "/v1/reports", headers, body)
    }

    /// Publishes envelopes.
    func publish(_ envelopes: [[UInt8]], _ name: String = "com.example.app", token: String?) async throws -> Answer {
        let body = [UInt8(ascii: "[")] + envelopes.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        let headers: HTTPHeaders = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try await self.ask(.PUT, "/v1/lists/\(name)", headers, Array(body), isForAdmin: true)
    }

    /// Makes a token, and says its secret.
    func token(_ scope: AccessToken.Scope, _ names: [String] = []) async throws -> String {
        let random = (0..<AccessToken.randomBytes).map { _ in UInt8.random(in: .min ... .max) }
        let made = try #require(AccessToken.make(scope, names: names, random: random, at: self.clock.now))
        try await self.store.write { try $0.add(made.token) }
        return made.secret
    }

    /// Revokes a token.
    func revoke(_ secret: String) async throws {
        let id = try #require(AccessToken.id(of: secret))
        let now = self.clock.now
        #expect(try await self.store.write { try $0.revokeToken(id: id, at: now) })
    }

    /// The actions of the audit log.
    func actions() async throws -> [String] {
        try await self.store.read { try $0.auditEntries(from: 1, limit: 1_000).map(\.action) }
    }
}

extension TimeAmount {
    /// The time for what must come: met by a hang alone, on a machine however slow.
    static var ample: TimeAmount { .hours(1) }
}

extension HTTPHeaders {
    /// These fields and more.
    static func + (fields: HTTPHeaders, more: [(String, String)]) -> HTTPHeaders {
        var fields = fields
        fields.add(contentsOf: more)
        return fields
    }
}

extension RepositorySimulator {
    /// One at the time at which the stories begin.
    static func story(_ domains: [PinList.Domain] = []) throws -> RepositorySimulator {
        try RepositorySimulator(at: TurnedClock.start, domains: domains)
    }

    /// A list of half a megabyte: of so many hosts, each with a pin.
    static func ofLargeList() throws -> RepositorySimulator {
        try self.story(
            try (0..<4_000).map { number in
                PinList.Domain(
                    PinnedDomain(
                        try HostName("host-\(number).example.com"),
                        pins: [KnownPin(Pin(kind: .publicKey, hashing: [UInt8(number & 0xff)]))]))
            })
    }

    /// Its first root, as it is configured.
    var anchors: [String: [UInt8]] { [self.root.name: self.roots[0]] }
}

extension PinList.Domain {
    /// An entry with a pin.
    static func pinned(_ host: String, expiresAt: Timestamp? = nil) throws -> PinList.Domain {
        PinList.Domain(
            PinnedDomain(
                try HostName(host), pins: [KnownPin(Pin(kind: .publicKey, hashing: [9]))], expiresAt: expiresAt))
    }
}
