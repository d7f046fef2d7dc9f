// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import Foundation

/// A connection (iOS 12). `Sendable` on Apple's platforms.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class NWConnection: @unchecked Sendable {
    /// How far a connection is.
    public enum State: Equatable, Sendable {
        /// It was not begun.
        case setup
        /// It waits for a network.
        case waiting(NWError)
        /// It is being made.
        case preparing
        /// It can be used.
        case ready
        /// It broke.
        case failed(NWError)
        /// It was cancelled.
        case cancelled
    }

    /// What is done when something was sent.
    public enum SendCompletion: Sendable {
        /// This is called.
        case contentProcessed(@Sendable (NWError?) -> Void)
        /// Nothing.
        case idempotent
    }

    /// What a piece of content belongs to.
    public final class ContentContext: Sendable {
        /// A message like any other.
        public static let defaultMessage = ContentContext()
        /// The last one.
        public static let finalMessage = ContentContext()
    }

    /// The other end.
    public let endpoint: NWEndpoint
    /// How it is made.
    public let parameters: NWParameters
    private let lock = NSLock()
    private var current = State.setup
    private var handler: (@Sendable (State) -> Void)?
    private var queue: DispatchQueue?

    /// A connection to a host.
    public convenience init(host: NWEndpoint.Host, port: NWEndpoint.Port, using parameters: NWParameters) {
        self.init(to: .hostPort(host: host, port: port), using: parameters)
    }

    /// A connection to an endpoint.
    public init(to endpoint: NWEndpoint, using parameters: NWParameters) {
        self.endpoint = endpoint
        self.parameters = parameters
    }

    /// How far it is.
    public var state: State { self.lock.withLock { self.current } }

    /// Gets each state of the connection.
    public var stateUpdateHandler: (@Sendable (State) -> Void)? {
        get { self.lock.withLock { self.handler } }
        set { self.lock.withLock { self.handler = newValue } }
    }

    /// Begins; everything is told on the queue. It reaches the servers of `SimulatedHandshake`.
    public func start(queue: DispatchQueue) {
        self.lock.withLock { self.queue = queue }
        self.move(to: .preparing)
        guard case .hostPort(.name(let host, _), let port) = self.endpoint,
            let presented = SimulatedHandshake.presented(host: host, port: port.rawValue)
        else { return self.move(to: .failed(.posix(.ECONNREFUSED))) }
        guard let options = self.parameters.tlsOptions else { return self.move(to: .ready) }
        let security = SimulatedHandshake.security(of: options)
        Task.detached {
            let isTrusted = await SimulatedHandshake.run(
                security: security, presented: presented, serverName: host)
            // errSSLPeerBadCert: what is told when the verify block refuses.
            self.move(to: isTrusted ? .ready : .failed(.tls(-9808)))
        }
    }

    /// Ends it.
    public func cancel() { self.move(to: .cancelled) }

    /// Sends content: what was sent is counted by `SimulatedHandshake`, in a connection that is ready.
    public func send(
        content: Data?, contentContext: ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: SendCompletion
    ) {
        let isReady = self.state == .ready
        if isReady, case .hostPort(.name(let host, _), let port) = self.endpoint {
            SimulatedHandshake.count(content?.count ?? 0, host: host, port: port.rawValue)
        }
        guard case .contentProcessed(let handler) = completion else { return }
        self.lock.withLock { self.queue }?.async { handler(isReady ? nil : .posix(.ENOTCONN)) }
    }

    /// Takes content: the server says nothing here, and closes.
    public func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion: @escaping @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void
    ) {
        self.lock.withLock { self.queue }?.async { completion(nil, nil, true, nil) }
    }

    private func move(to state: State) {
        let (queue, handler) = self.lock.withLock {
            guard self.current != .cancelled else {
                return (nil, nil) as (DispatchQueue?, (@Sendable (State) -> Void)?)
            }
            self.current = state
            return (self.queue, self.handler)
        }
        guard let handler else { return }
        queue?.async { handler(state) }
    }
}
