// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A test bench that plays the man in the middle in one way after the other, and counts what each way got.
///
/// It stands in front of one server, on ports of this machine, as a reverse proxy or as an HTTP proxy. Its CA is made for
/// the run: the key is in memory alone, and its certificates end within days. Nothing that clients send is kept.
public final class InterceptionBench: Sendable {
    /// The other name of the certificate in the case `coalescing`.
    public static let secondName = "coalesced.test"
    /// The delay of the certificates of the case `slow`, in seconds.
    public static let secondsLate = 3
    /// The maximum number of bytes that one client may send to the interceptor on a connection; then it is closed.
    public static let maximumRequestBytes = 1 << 20
    /// The maximum number of connections at once; further ones are closed.
    public static let maximumConnections = 256
    /// The maximum time that a connection may last, in seconds.
    public static let maximumSeconds = 120

    /// The number of checks at the end whether connections are over, one in twenty milliseconds.
    public static let maximumLooks = 50

    /// The addresses at which clients reach the bench.
    public struct Listening: Sendable {
        /// The address that it listens on.
        public let address: String
        /// The first port; of 0 the system chooses each.
        public let port: Int
        /// Whether it is an HTTP proxy.
        public let isProxy: Bool
        /// Whether the proxy lets other hosts pass.
        public let tunnelsOthers: Bool
        /// Whether all cases are played on one port, one after the other.
        public let isInTurn: Bool

        /// Says how.
        public init(
            address: String, port: Int, isProxy: Bool = false, tunnelsOthers: Bool = false, isInTurn: Bool = false
        ) {
            self.address = address
            self.port = port
            self.isProxy = isProxy
            self.tunnelsOthers = tunnelsOthers
            self.isInTurn = isInTurn
        }
    }

    private let authority: InterceptorAuthority
    private let plays: [InterceptionPlay]
    private let listeners = NIOLockedValueBox<[any Channel]>([])
    private let open = NIOLockedValueBox(0)
    private let turn = NIOLockedValueBox(0)

    /// Prepares the cases.
    ///
    /// - Parameters:
    ///   - server: The server that it stands in front of.
    ///   - cases: The cases to play, in this order.
    ///   - policies: The rules of right clients, where they are known: a case that presents what one of them accepts by
    ///     its pins, and is made for that, may be accepted.
    ///   - time: The time of the run.
    /// - Throws: ``InterceptionError`` when a case cannot be played.
    public init(
        before server: InterceptedServer, cases: [InterceptionCase], policies: [PinningPolicy] = [], at time: Timestamp
    ) throws {
        let authority = try InterceptorAuthority(for: server, at: time)
        self.authority = authority
        self.plays = try cases.map { played in
            let identity = try authority.identity(for: played.presented)
            let isPinned =
                played.need == .intermediate
                && policies.contains { $0.accepts(identity.chain, for: server.host, at: time) }
            return InterceptionPlay(played, identity, server, mayAccept: played.isControl || isPinned)
        }
    }

    /// The certificate of the CA that is to be trusted where a case asks for it, in PEM.
    public var authorityPEM: String {
        PEMBlock(label: PEMBlock.certificateLabel, bytes: self.authority.trusted.der).text
    }

    /// The results so far, in the order of the cases.
    public var results: [InterceptionResult] { self.plays.map(\.tally.result) }

    /// Begins to listen.
    ///
    /// - Returns: The port of each case, in their order.
    /// - Throws: ``InterceptionError/ports``, and what the system says.
    public func start(_ listening: Listening) async throws -> [Int] {
        if listening.isInTurn {
            let port = try await self.listen(listening, port: listening.port) { bench in
                bench.plays[bench.turn.withLockedValue { $0 }]
            }
            return self.plays.map { _ in port }
        }
        guard listening.port == 0 || listening.port + self.plays.count - 1 <= 65_535 else {
            throw InterceptionError.ports
        }
        var ports: [Int] = []
        for (index, play) in self.plays.enumerated() {
            let port = listening.port == 0 ? 0 : listening.port + index
            ports.append(try await self.listen(listening, port: port) { _ in play })
        }
        return ports
    }

    /// Plays another case, where all are played on one port. Connections that are open stay with theirs.
    public func play(at index: Int) {
        guard self.plays.indices.contains(index) else { return }
        self.turn.withLockedValue { $0 = index }
    }

    /// Takes no more connections.
    public func stop() async {
        let listeners = self.listeners.withLockedValue { listeners in
            defer { listeners = [] }
            return listeners
        }
        for listener in listeners { try? await listener.close() }
    }

    /// Waits until everything that clients did before is counted: connections are taken in their order, so one more is
    /// made on each port, and when it has had its turn those before it had theirs. Then open ones may end.
    ///
    /// - Parameter looks: The maximum number of checks whether they have.
    public func settle(looks: Int = InterceptionBench.maximumLooks) async {
        for port in self.listeners.withLockedValue({ $0.compactMap(\.localAddress) }) {
            let visit = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: false)
                .connectTimeout(.seconds(2))
                .connect(to: port).get()
            try? await visit?.close(mode: .output)
            try? await visit?.closeFuture.get()
        }
        // A client that went away has said all that it has to say once its connection is closed here, too.
        for _ in 0..<looks where self.open.withLockedValue({ $0 > 0 }) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func listen(
        _ listening: Listening, port: Int, _ play: @escaping @Sendable (InterceptionBench) -> InterceptionPlay
    ) async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard self.takesPlace(of: channel) else { return channel.close(promise: nil) }
                    let handler: any ChannelHandler =
                        listening.isProxy
                        ? ConnectHandler(play(self), tunnelsOthers: listening.tunnelsOthers)
                        : FirstBytesHandler(play(self))
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: listening.address, port: port).get()
        self.listeners.withLockedValue { $0.append(channel) }
        return channel.localAddress?.port ?? port
    }

    /// Counts a connection until it ends, which it does in bounded time.
    private func takesPlace(of channel: any Channel) -> Bool {
        let isRoom = self.open.withLockedValue { open in
            guard open < Self.maximumConnections else { return false }
            open += 1
            return true
        }
        guard isRoom else { return false }
        let end = channel.eventLoop.scheduleTask(in: .seconds(Int64(Self.maximumSeconds))) {
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in
            end.cancel()
            self.open.withLockedValue { $0 -= 1 }
        }
        return true
    }
}

extension PinningPolicy {
    /// Whether pins accept certificates that the bench makes, the server's own first. They have no timestamps, so that no
    /// policy of Certificate Transparency is satisfied.
    fileprivate func accepts(_ chain: [[UInt8]], for host: HostName, at time: Timestamp) -> Bool {
        let decision = self.validate(
            ValidatedPath(uncheckedValidatedPath: chain), for: host.description, at: time)
        return decision.reason == .pinMatch && self.entry(for: host)?.transparency?.mode != .enforce
    }
}
