// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
@_spi(Adapters) import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import PathValidation
import PinListClient

/// Pins the connections that AsyncHTTPClient makes to **one** server. Its hooks name no host, so the host is bound when
/// this is made.
///
/// The hooks see the leaf alone. The intermediates are learned from a handshake of our own with the same server
/// (``ServerChain``); the leaf of the connection itself is then validated through it. A connection that cannot be
/// evaluated is refused.
final class HTTPServerConnections: Sendable {
    /// The maximum number of handshakes of ours for a connection: another server of the name may answer them.
    private static let handshakes = 4

    let server: ServerEvaluator
    let registry: ConnectionRegistry
    /// The known chain of the server.
    let chain: ServerChain
    private let check: RequestCheck
    /// Whether a connection to this machine or into a private network takes no request.
    private let refusesLocalPeers: Bool
    /// The address of the other end of the newest connection that was allowed, which is looked at where a redirect comes.
    private let newestPeer = NIOLockedValueBox<SocketAddress?>(nil)
    /// The open connections: of HTTP/2 one, seldom more.
    private let open = NIOLockedValueBox<[PinnedConnection]>([])
    /// The newest leaf and its DER, which NIOSSL encodes anew each time it is asked: a seventh of what pinning adds to a connection.
    private let newestLeaf = NIOLockedValueBox<(certificate: NIOSSLCertificate, bytes: [UInt8])?>(nil)
    /// The newest verdict on a connection to this server, and the time at which it came.
    private let concluded = NIOLockedValueBox<(decision: PinningDecision, at: NIODeadline)?>(nil)

    init(
        server: ServerEvaluator, registry: ConnectionRegistry, probe: HandshakeProbe, check: RequestCheck,
        refusesLocalPeers: Bool
    ) {
        self.refusesLocalPeers = refusesLocalPeers
        self.server = server
        self.registry = registry
        self.chain = ServerChain(probe)
        self.check = check
    }

    /// The newest decision on one of these connections, and the time at which it came; `nil` before the first.
    var newestDecision: (decision: PinningDecision, at: NIODeadline)? { self.concluded.withLockedValue { $0 } }

    /// Whether the newest connection that was allowed leads to this machine or into a private network. One that is not known
    /// may be anywhere: what is there must not pass for a server of our own network.
    var isLocal: Bool { LocalPeerError(self.newestPeer.withLockedValue { $0 })?.address != nil }

    /// The check of requests on one connection.
    private func check(on channel: any Channel) -> RequestCheck {
        guard self.refusesLocalPeers, let error = LocalPeerError(channel) else { return self.check }
        return .localPeer(error)
    }

    // MARK: AsyncHTTPClient's hooks. They never fail: see ConnectionGate.

    /// A connection of HTTP/1.1, after its handshake.
    func http1(_ channel: any Channel) -> EventLoopFuture<Void> {
        if let (gate, tls) = self.gate(channel, speaksHTTP2: false) {
            let watch = HTTP1RequestWatch(self.check(on: channel))
            let pipeline = channel.pipeline.syncOperations
            do {
                // Next to the decoder, so that it sees requests and responses as AsyncHTTPClient does.
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(watch, position: .after(decoder))
                self.evaluate(channel, tls, gate, drain: { watch.retire() }) { watch.connection = $0 }
            } catch {
                channel.close(promise: nil)
            }
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    /// A connection of HTTP/2, after its settings.
    func http2(_ channel: any Channel) -> EventLoopFuture<Void> {
        HTTP2StatusWatch.watch(channel)
        if let (gate, tls) = self.gate(channel, speaksHTTP2: true) {
            self.evaluate(channel, tls, gate, drain: { Self.retireHTTP2(channel) }, opened: { _ in })
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    /// Retires a connection of HTTP/2, as its server would: AsyncHTTPClient sends no new request on it.
    private static func retireHTTP2(_ channel: any Channel) {
        HTTP2Farewell.send(in: channel.pipeline.syncOperations)
        // Later, because AsyncHTTPClient is still handling the GOAWAY.
        channel.eventLoop.execute { HTTP2Farewell.closeIfIdle(in: channel.pipeline.syncOperations) }
    }

    /// A stream of HTTP/2, before its request is written, in the same turn of the event loop.
    func stream(_ channel: any Channel) -> EventLoopFuture<Void> {
        do {
            guard let parent = channel.parent else { throw ChannelError.inappropriateOperationForState }
            let check = self.check(on: parent)
            let gate: StreamGate
            if let connection = self.open.withLockedValue({ $0.first { $0.channel === parent } }) {
                if case .admission(let requests) = check, connection.mayTakeRequest() {
                    // Without a handler: one in each stream would be the largest cost of a request.
                    requests.admit()
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                gate = StreamGate(on: connection, check)
            } else {
                gate = StreamGate(
                    behind: try parent.pipeline.syncOperations.handler(type: ConnectionGate.self), check)
            }
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            // Without a name one would be made for each stream.
            try pipeline.addHandler(gate, name: "StreamGate", position: .after(codec))
        } catch {
            // The stream cannot be evaluated, so no byte of its request may be sent.
            channel.parent?.close(promise: nil)
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    /// Ends the connections that the rules in force refuse, before AsyncHTTPClient chooses another one for a request.
    func endRefused() async {
        for connection in self.open.withLockedValue({ $0 }) where !connection.mayTakeRequest() {
            // A turn of its event loop later AsyncHTTPClient was told.
            try? await connection.channel.eventLoop.submit {}.get()
        }
    }

    /// Ends the connections, each after the requests and responses that it has.
    ///
    /// - Returns: When they are closed.
    func end() -> [EventLoopFuture<Void>] {
        let open = self.open.withLockedValue { $0 }
        for connection in open { connection.end() }
        return open.map(\.channel.closeFuture)
    }

    /// Closes the connections, with what runs on them.
    func close() {
        for connection in self.open.withLockedValue({ $0 }) { connection.channel.close(promise: nil) }
    }

    // MARK: The verdict

    /// Puts a gate behind the TLS handler. Without one the connection is not encrypted or cannot be evaluated, so it is
    /// closed.
    private func gate(_ channel: any Channel, speaksHTTP2: Bool) -> (ConnectionGate, NIOSSLClientHandler)? {
        let pipeline = channel.pipeline.syncOperations
        do {
            let tls = try pipeline.handler(type: NIOSSLClientHandler.self)
            let gate = ConnectionGate(behind: tls, speaksHTTP2: speaksHTTP2)
            try pipeline.addHandler(gate, position: .after(tls))
            return (gate, tls)
        } catch {
            _ = self.server.refusal(.cleartext, "there is no TLS on this connection")
            channel.close(promise: nil)
            return nil
        }
    }

    /// Applies the verdict on a connection.
    private struct Outcome {
        let gate: ConnectionGate
        let drain: () -> Void
        let opened: (PinnedConnection) -> Void
    }

    private func evaluate(
        _ channel: any Channel, _ tls: NIOSSLClientHandler, _ gate: ConnectionGate, drain: @escaping () -> Void,
        opened: @escaping (PinnedConnection) -> Void
    ) {
        let outcome = NIOLoopBound(Outcome(gate: gate, drain: drain, opened: opened), eventLoop: channel.eventLoop)
        guard let leaf = try? self.leaf(of: tls) else {
            return self.conclude(self.server.refusal(.noCertificates, "no certificate is known"), channel, outcome)
        }
        let question = self.question(leaf)
        let path = self.server.finder.remembered(question, at: self.server.pinning.now)
        if let path, self.server.isDecidedAtOnce(on: path) {
            return self.conclude(self.verdict(on: path, question), channel, outcome)
        }
        Task {
            let verdict: HandshakeVerdict
            if let path {
                verdict = self.verdict(on: path, question)
            } else {
                verdict = await self.verdict(on: leaf, of: channel)
            }
            channel.eventLoop.execute { self.conclude(verdict, channel, outcome) }
        }
    }

    private func conclude(_ verdict: HandshakeVerdict, _ channel: any Channel, _ outcome: NIOLoopBound<Outcome>) {
        self.concluded.withLockedValue { $0 = (verdict.decision, .now()) }
        guard verdict.isAllowed || (verdict.path == nil && self.isValidatedElsewhere) else {
            return outcome.value.gate.refuse(PinningError(verdict.decision))
        }
        // The connection was closed meanwhile: nothing would end what holds it.
        guard outcome.value.gate.isPending else { return }
        // Without the gate, which holds the connection.
        let drain = NIOLoopBound(outcome.value.drain, eventLoop: channel.eventLoop)
        let connection = PinnedConnection(self.server, verdict, on: channel) { _ in drain.value() }
        // New rules may have come into force while the path was found: nothing passes under the earlier ones.
        guard connection.mayTakeRequest() else { return outcome.value.gate.refuse(PinningError(connection.decision)) }
        self.notePeer(of: channel)
        self.open.withLockedValue { $0.append(connection) }
        channel.closeFuture.whenComplete { _ in
            self.open.withLockedValue { $0.removeAll { $0 === connection } }
        }
        outcome.value.opened(connection)
        outcome.value.gate.open(connection)
        self.registry.add(connection)
    }

    /// Notes where a connection leads that was allowed. A refused one, to which the name led at the same time, vouches for
    /// nothing.
    func notePeer(of channel: any Channel) {
        let peer = channel.remoteAddress
        self.newestPeer.withLockedValue { $0 = peer }
    }

    /// Whether a connection is allowed without a path of ours: while all entries only report, a connection that
    /// AsyncHTTPClient validated is not refused because our path is missing. Where NIOSSL cannot compare the name with
    /// the certificate, AsyncHTTPClient does not.
    private var isValidatedElsewhere: Bool { self.server.pinning.isObserving && self.server.host.isComparedByNIOSSL }

    /// The leaf that a server presented, as DER; `nil` for none. NIOSSL compares two certificates by their SHA-256 (BoringSSL's
    /// `X509_cmp`); one that has none, because it could not be computed, was refused by BoringSSL's verification before.
    private func leaf(of tls: NIOSSLClientHandler) throws -> [UInt8]? {
        guard let certificate = tls.peerCertificate else { return nil }
        if let newest = self.newestLeaf.withLockedValue({ $0 }), newest.certificate == certificate {
            return newest.bytes
        }
        let bytes = try certificate.toDERBytes()
        self.newestLeaf.withLockedValue { $0 = (certificate, bytes) }
        return bytes
    }

    private func question(_ leaf: [UInt8]) -> CachingPathValidator.Question {
        self.server.finder.question([leaf] + self.chain.intermediates, for: self.server.host)
    }

    /// Validates a leaf through the known intermediates of the server, and asks the server when they are not enough.
    private func verdict(on leaf: [UInt8], of channel: any Channel) async -> HandshakeVerdict {
        let now = self.server.pinning.now
        let question = self.question(leaf)
        switch await self.server.finder.find(question, at: now) {
        case .success(let path): return self.verdict(on: path, question)
        // Asking the server again would change nothing, and one that takes one connection at a time would not answer.
        case .failure(let refusal) where refusal.isAboutLeaf:
            return self.server.refusal(refusal.reason, refusal.detail, presented: self.chain.presented(with: leaf))
        case .failure: break
        }
        // One name may have several servers with different chains, so another one may answer.
        for number in 1...Self.handshakes {
            let presented: [[UInt8]]
            do {
                presented = try await self.chain.ask(on: channel.eventLoop)
            } catch {
                self.chain.forget()
                if case .host = self.check { self.chain.askAgain(after: channel) }
                return self.server.refusal(
                    .chainInvalid, "the path of the presented certificate could not be found: \(error)",
                    presented: [leaf])
            }
            let better = self.question(leaf)
            switch await self.server.finder.validatedPath(better, at: now) {
            case .success(let path): return self.verdict(on: path, better)
            case .failure(let refusal) where number == Self.handshakes || presented.first == leaf:
                return self.server.refusal(refusal.reason, refusal.detail, presented: [leaf] + presented.dropFirst())
            case .failure: continue
            }
        }
        return self.server.refusal(.chainInvalid, "no path was found", presented: [leaf])
    }

    /// The verdict on a path through intermediates of an earlier handshake of ours. It is not known which of them were
    /// presented this time, so a report has only those of the path.
    private func verdict(on path: ValidatedPath, _ question: CachingPathValidator.Question) -> HandshakeVerdict {
        self.chain.remember(path)
        return self.server.verdict(on: path, presented: question.presented.filter { path.certificates.contains($0) })
    }

    /// Asks an unknown server for its chain before a connection is made: a server that accepts only one
    /// connection at a time could not be asked beside that connection.
    ///
    /// - Returns: The presented chain, if it was asked now.
    /// - Throws: `HTTPClientError` at the deadline, `CancellationError`. Any other obstacle stops AsyncHTTPClient as
    ///   well, whose errors callers know.
    func askFirst(on eventLoop: any EventLoop, until deadline: NIODeadline) async throws -> [[UInt8]]? {
        do {
            return try await self.chain.ask(on: eventLoop, until: deadline)
        } catch ChannelError.connectTimeout {
            throw HTTPClientError.connectTimeout
        } catch let error where error is CancellationError || error as? HTTPClientError == .deadlineExceeded {
            throw error
        } catch {
            return nil
        }
    }

    /// A chain that AsyncHTTPClient's own TLS refused, evaluated here for its reason. It is refused in any case.
    ///
    /// - Parameters:
    ///   - presented: The chain that the server presented just now; `nil` to ask.
    ///   - deadline: The deadline of the request. A server that does not answer by then is refused for what is known.
    func explainRefusedChain(
        _ detail: String, presented: [[UInt8]]?, on eventLoop: any EventLoop, until deadline: NIODeadline
    ) async -> PinningError {
        var chain = presented
        if chain == nil { chain = try? await self.chain.ask(on: eventLoop, until: deadline) }
        guard let presented = chain, !presented.isEmpty else {
            return PinningError(self.server.refusal(.chainInvalid, detail).decision)
        }
        let question = self.server.finder.question(presented, for: self.server.host)
        switch await self.server.finder.find(question, at: self.server.pinning.now) {
        case .success: return PinningError(self.server.refusal(.chainInvalid, detail, presented: presented).decision)
        case .failure(let refusal):
            return PinningError(
                self.server.refusal(refusal.reason, refusal.detail, presented: presented).decision)
        }
    }
}
#endif
