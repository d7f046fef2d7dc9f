// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A WebSocket. `Sendable`: because what it adds is a value that is waited for, and a list under a lock.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// Why it was closed, by RFC 6455, section 7.4.1.
    public enum CloseCode: Int, Sendable {
        /// Not known.
        case invalid = 0
        /// All was said.
        case normalClosure = 1000
        /// The server stops, or the page is left.
        case goingAway = 1001
        /// The protocol was broken.
        case protocolError = 1002
        /// The data could not be taken.
        case unsupportedData = 1003
        /// No code came.
        case noStatusReceived = 1005
        /// The connection broke.
        case abnormalClosure = 1006
        /// A text was not UTF-8.
        case invalidFramePayloadData = 1007
        /// A rule of the app's was broken.
        case policyViolation = 1008
        /// A message was too large.
        case messageTooBig = 1009
        /// An extension lacks.
        case mandatoryExtensionMissing = 1010
        /// The server failed.
        case internalServerError = 1011
        /// TLS failed.
        case tlsHandshakeFailure = 1015
    }

    /// A message.
    public enum Message: Sendable {
        /// Bytes.
        case data(Data)
        /// A text.
        case string(String)

        var count: Int {
            switch self {
            case .data(let data): data.count
            case .string(let text): text.utf8.count
            }
        }
    }

    /// The most bytes of a message that are taken. Not measured here.
    open var maximumMessageSize = 1_048_576
    let opened = Pending<SimulatedNetwork.Endpoint>()
    let over = Pending<Void>()
    private let lock = NSLock()
    private var messages: [String] = []
    private var closing: (CloseCode, Data?) = (.invalid, nil)

    /// Why it was closed.
    open var closeCode: CloseCode { self.lock.withLock { self.closing.0 } }
    /// What was said about that.
    open var closeReason: Data? { self.lock.withLock { self.closing.1 } }

    func put(_ messages: [String]) { self.lock.withLock { self.messages += messages } }

    /// Sends a message when the WebSocket is open.
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        Task.detached {
            do {
                try await self.send(message)
                completionHandler(nil)
            } catch { completionHandler(error) }
        }
    }

    /// Sends a message when the WebSocket is open.
    open func send(_ message: Message) async throws {
        let endpoint = try await self.opened.value()
        self.session.network.receive(bytes: message.count, at: endpoint)
    }

    /// Takes the next message.
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        Task.detached {
            do { completionHandler(.success(try await self.receive())) } catch { completionHandler(.failure(error)) }
        }
    }

    /// Takes the next message; without one, it waits for the end.
    open func receive() async throws -> Message {
        _ = try await self.opened.value()
        let next = self.lock.withLock { self.messages.isEmpty ? nil : self.messages.removeFirst() }
        if let next { return .string(next) }
        try await self.over.value()
        throw URLError(.networkConnectionLost)
    }

    /// Asks the server whether it is there.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        self.send(.data(Data()), completionHandler: pongReceiveHandler)
    }

    /// Closes, with a reason.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        self.lock.withLock { self.closing = (closeCode, reason) }
        self.over.finish(.success(()))
    }

    open override func cancel() {
        super.cancel()
        self.over.finish(.failure(URLError(.cancelled)))
    }
}

extension TaskRun {
    /// Connects, sends the request, opens the WebSocket, and waits for its end.
    func converse(_ socket: URLSessionWebSocketTask) async throws {
        do {
            try self.checkCancellation()
            guard let request = socket.originalRequest, let url = request.url else { throw URLError(.badURL) }
            self.measured.begin(request)
            let connection = try await self.connection(for: url)
            try self.checkCancellation()
            self.network.receive(request, body: Data(), at: connection.endpoint)
            socket.put(await self.network.answer(for: url).messages)
            let chosen = request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol")?
                .split(separator: ",").first.map(String.init)
            await self.tell { run in
                socket.listener(as: (any URLSessionWebSocketDelegate).self)?
                    .urlSession(run.session, webSocketTask: socket, didOpenWithProtocol: chosen)
            }
            socket.opened.finish(.success(connection.endpoint))
        } catch {
            socket.opened.finish(.failure(error))
            throw error
        }
        try await socket.over.value()
        await self.tell { run in
            socket.listener(as: (any URLSessionWebSocketDelegate).self)?
                .urlSession(
                    run.session, webSocketTask: socket, didCloseWith: socket.closeCode, reason: socket.closeReason)
        }
    }
}
