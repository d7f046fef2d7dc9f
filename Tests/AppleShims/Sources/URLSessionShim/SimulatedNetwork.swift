// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What is not Apple's: the servers that a session's tasks reach, and a record of what reached them.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class SimulatedNetwork: @unchecked Sendable {
    /// The network of configurations that have none of their own. Tests that run beside each other use different hosts.
    public static let shared = SimulatedNetwork()

    struct Endpoint: Hashable {
        let host: String
        let port: Int

        init(_ host: String, _ port: Int) {
            self.host = host.lowercased()
            self.port = port
        }
    }

    struct State {
        var settings = Settings()
        var servers: [Endpoint: Server] = [:]
        var answers: [String: Answer] = [:]
        var coalescing: [Endpoint: Endpoint] = [:]
        var gates: [String: Gate] = [:]
        var known: Set<Endpoint> = []
        var traffic: [Endpoint: Traffic] = [:]
        var challenges: [AskedChallenge] = []
        var nextLocalPort = 49_152
    }

    /// What reached a server.
    struct Traffic {
        var requests: [URLRequest] = []
        var bytes = 0
        var handshakes = 0
        var connections = 0
    }

    private let lock = NSLock()
    private var state = State()
    let rendezvous = Rendezvous()

    /// A network without servers.
    public init() {}

    func with<Result>(_ body: (inout State) -> Result) -> Result { self.lock.withLock { body(&self.state) } }

    /// The switches.
    public var settings: Settings {
        get { self.with { $0.settings } }
        set { self.with { $0.settings = newValue } }
    }

    /// Puts a server at a host and a port, or another one in its place.
    public func add(_ server: Server, at host: String, port: Int = 443) {
        self.with { $0.servers[Endpoint(host, port)] = server }
    }

    /// Sets what is answered for an address; 404 without.
    public func setAnswer(_ answer: Answer, for address: String) {
        self.with { $0.answers[Self.key(address)] = answer }
    }

    /// Lets requests for a host go over an open connection to another one, as HTTP/2 allows: no challenge comes.
    public func coalesce(_ host: String, onto other: String, port: Int = 443) {
        self.with { $0.coalescing[Endpoint(host, port)] = Endpoint(other, port) }
    }

    /// Keeps the answer for an address back until `release`.
    public func hold(_ address: String) { self.with { $0.gates[Self.key(address)] = Gate() } }

    /// Lets the answers go that `hold` kept back.
    public func release(_ address: String) { self.with { $0.gates.removeValue(forKey: Self.key(address)) }?.open() }

    /// Returns when a request for an address that is held has reached its server.
    public func held(_ address: String) async { await self.with { $0.gates[Self.key(address)] }?.arrival() }

    // MARK: What reached a server

    /// The requests, in their order.
    public func requests(at host: String, port: Int = 443) -> [URLRequest] { self.traffic(host, port).requests }

    /// How many bytes of requests, heads and bodies, and of messages.
    public func bytes(at host: String, port: Int = 443) -> Int { self.traffic(host, port).bytes }

    /// How many TLS handshakes were begun.
    public func handshakes(at host: String, port: Int = 443) -> Int { self.traffic(host, port).handshakes }

    /// How many connections were open in the end.
    public func connections(at host: String, port: Int = 443) -> Int { self.traffic(host, port).connections }

    /// The challenges that were asked, in their order.
    public var challenges: [AskedChallenge] { self.with { $0.challenges } }

    /// An address with a path: without one, a client asks for "/".
    private static func key(_ address: String) -> String {
        guard let url = URL(string: address), url.path.isEmpty, url.query == nil else { return address }
        return "\(address)/"
    }

    private func traffic(_ host: String, _ port: Int) -> Traffic {
        self.with { $0.traffic[Endpoint(host, port)] ?? Traffic() }
    }

    // MARK: For the session

    /// A request has reached a server.
    func receive(_ request: URLRequest, body: Data, at endpoint: Endpoint) {
        var head = "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "") HTTP/1.1\r\n"
        for (name, value) in request.allHTTPHeaderFields ?? [:] { head += "\(name): \(value)\r\n" }
        self.with { state in
            state.traffic[endpoint, default: Traffic()].requests.append(request)
            state.traffic[endpoint, default: Traffic()].bytes += head.utf8.count + 2 + body.count
        }
    }

    func receive(bytes: Int, at endpoint: Endpoint) {
        self.with { $0.traffic[endpoint, default: Traffic()].bytes += bytes }
    }

    /// The answer for a request, when it may go.
    func answer(for url: URL) async -> Answer {
        let address = Self.key(url.absoluteString)
        let (answer, gate) = self.with { ($0.answers[address], $0.gates[address]) }
        await gate?.pass()
        return answer ?? Answer(status: 404)
    }
}
