// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Bytes in both directions (iOS 9). `Sendable`: because what it adds is waited for.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    let endpoint: SimulatedNetwork.Endpoint
    private let secure = Pending<Void>()
    private let lock = NSLock()
    private var asksForTLS = false
    let over = Pending<Void>()

    init(_ session: URLSession, _ endpoint: SimulatedNetwork.Endpoint) {
        self.endpoint = endpoint
        super.init(session, nil, .delegate)
    }

    /// Does the handshake of TLS before all that follows. A failure ends the task.
    open func startSecureConnection() {
        self.lock.withLock { self.asksForTLS = true }
        Task.detached {
            let run = TaskRun(self)
            do {
                guard let server = run.network.with({ $0.servers[self.endpoint] }) else {
                    throw URLError(.cannotFindHost)
                }
                _ = try await run.open(self.endpoint, server, isSecure: true)
                self.secure.finish(.success(()))
            } catch {
                self.secure.finish(.failure(error))
                self.over.finish(.failure(error))
            }
        }
    }

    /// Sends bytes, after a handshake that was begun.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task.detached {
            do {
                try await self.write(data, timeout: timeout)
                completionHandler(nil)
            } catch { completionHandler(error) }
        }
    }

    /// Sends bytes, after a handshake that was begun.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        if self.lock.withLock({ self.asksForTLS }) { try await self.secure.value() }
        self.session.network.receive(bytes: data.count, at: self.endpoint)
    }

    /// Takes bytes, after a handshake that was begun: the server says nothing here, and closes.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        if self.lock.withLock({ self.asksForTLS }) { try await self.secure.value() }
        return (nil, true)
    }

    /// Takes bytes, after a handshake that was begun: the server says nothing here, and closes.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        Task.detached {
            do {
                let (data, atEnd) = try await self.readData(
                    ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout)
                completionHandler(data, atEnd, nil)
            } catch { completionHandler(nil, false, error) }
        }
    }

    /// Sends nothing more.
    open func closeWrite() { self.over.finish(.success(())) }

    /// Takes nothing more.
    open func closeRead() {}

    open override func cancel() {
        super.cancel()
        self.over.finish(.failure(URLError(.cancelled)))
    }
}

extension TaskRun {
    /// Connects, and waits for the end.
    func stream(_ stream: URLSessionStreamTask) async throws {
        try self.checkCancellation()
        guard self.network.with({ $0.servers[stream.endpoint] }) != nil else { throw URLError(.cannotFindHost) }
        try await stream.over.value()
        await self.tell { run in
            stream.listener(as: (any URLSessionStreamDelegate).self)?
                .urlSession(run.session, writeClosedFor: stream)
        }
    }
}
