// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore

/// The known chain of one server: the certificates above its leaf, learned from handshakes of our own.
final class ServerChain: Sendable {
    /// The maximum number of certificates that are learned of a server: chains of the public web have up to five
    /// certificates.
    static let maximumIntermediates = 16

    private struct State {
        var intermediates: [[UInt8]]
        /// Whether the server was asked, and no request failed since.
        var isKnown: Bool
        var isRemembered = false
        /// The chain that was presented last, the leaf first.
        var presented: [[UInt8]] = []
        var asking: EventLoopFuture<[[UInt8]]>?
    }

    private let probe: HandshakeProbe
    private let key: KnownChains.Key
    private let state: NIOLockedValueBox<State>

    /// Begins with the intermediates that this process knows.
    init(_ probe: HandshakeProbe) {
        self.probe = probe
        self.key = KnownChains.Key(
            roots: probe.finder.rootsDigest, host: probe.host, port: probe.port, place: probe.place)
        let known = KnownChains.shared.intermediates(of: self.key)
        self.state = NIOLockedValueBox(State(intermediates: known ?? [], isKnown: known != nil))
    }

    /// Whether the server was asked, now or by an earlier client of this process.
    var isKnown: Bool { self.state.withLockedValue { $0.isKnown } }

    /// The candidates between a leaf of the server and an anchor.
    var intermediates: [[UInt8]] { self.state.withLockedValue { $0.intermediates } }

    /// The chain that the server presents in a handshake of our own, the leaf first. One handshake at a time: a
    /// concurrent call gets the same answer.
    ///
    /// - Throws: The error that ended the handshake before a chain was presented; `HTTPClientError.deadlineExceeded`;
    ///   `CancellationError`.
    func ask(on eventLoop: any EventLoop, until deadline: NIODeadline = .distantFuture) async throws -> [[UInt8]] {
        let asking = self.state.withLockedValue { state in
            if let asking = state.asking { return asking }
            let new = eventLoop.makeFutureWithTask { [probe] in try await probe.presentedChain(on: eventLoop) }
            state.asking = new
            return new
        }
        let answer = eventLoop.makePromise(of: [[UInt8]].self)
        asking.whenComplete { result in
            self.finished(asking, result)
            answer.completeWith(result)
        }
        let expiry =
            deadline == .distantFuture
            ? nil : eventLoop.scheduleTask(deadline: deadline) { answer.fail(HTTPClientError.deadlineExceeded) }
        defer { expiry?.cancel() }
        return try await withTaskCancellationHandler {
            try await answer.futureResult.get()
        } onCancel: {
            answer.fail(CancellationError())
        }
    }

    /// The chain that was presented last with a leaf; the leaf alone where it came with none yet.
    func presented(with leaf: [UInt8]) -> [[UInt8]] {
        let presented = self.state.withLockedValue { $0.presented }
        return presented.first == leaf ? presented : [leaf]
    }

    /// Records that the server could not be asked beside a connection: it may accept only one connection at a time.
    /// Later clients ask it before they connect.
    func forget() {
        self.state.withLockedValue { $0.isKnown = false }
        KnownChains.shared.forget(self.key)
    }

    /// Asks once more when a connection is closed, for a client that cannot ask before it connects.
    func askAgain(after channel: any Channel) {
        channel.closeFuture.whenComplete { _ in
            Task { _ = try? await self.ask(on: channel.eventLoop) }
        }
    }

    /// Shares the intermediates of a valid path with later clients of this process.
    func remember(_ path: ValidatedPath) {
        let isNews = self.state.withLockedValue { state in
            defer { state.isRemembered = true }
            return !state.isRemembered
        }
        guard isNews else { return }
        KnownChains.shared.remember(Array(path.certificates.dropFirst().dropLast()), of: self.key)
    }

    private func finished(_ asking: EventLoopFuture<[[UInt8]]>, _ result: Result<[[UInt8]], any Error>) {
        self.state.withLockedValue { state in
            guard state.asking === asking else { return }
            state.asking = nil
            guard case .success(let presented) = result else { return }
            let new = Array(presented.dropFirst())
            // The newest first.
            let old = state.intermediates.filter { !new.contains($0) }
            state.intermediates = Array((new + old).prefix(Self.maximumIntermediates))
            state.isKnown = true
            state.isRemembered = false
            state.presented = presented
        }
    }
}
#endif
