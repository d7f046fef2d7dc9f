// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import PinListClient
import PinningNIO
import Testing

@Suite("Servers that break HTTP around the verdict")
struct HostileHTTPTests {
    static let host = HostileHandshakeTests.host

    /// What a server of HTTP/2 does wrong.
    enum HTTP2Attack: String, CaseIterable {
        case closeBeforeSettings, resetBeforeSettings, goAwayBeforeSettings, goAwayBeforeSettingsAndClose
        case goAwayAfterSettings, closeAfterSettings, resetAfterSettings, goAwayAtTheRequest, closeAtTheRequest
        case resetStream, resetAfterHeaders, refuseStream, garbage, http1Answer, noStreams, fewStreams
        case headersOfNoStream, pushPromise, settingsTwice, goAwayThenAnswer
        case negativeStatus, emptyStatus, negativeStatusAfterContinue

        /// The status of its answer, which is none.
        var status: String? {
            switch self {
            case .negativeStatus, .negativeStatusAfterContinue: "-1"
            case .emptyStatus: ""
            default: nil
            }
        }

        /// Whether a request is answered after all.
        var isAnswered: Bool { self == .fewStreams || self == .settingsTwice }

        /// Whether only a deadline ends a request: the server says nothing, or AsyncHTTPClient neither closes nor gives
        /// up a connection whose first frame breaks the protocol.
        var isSilent: Bool {
            switch self {
            case .noStreams, .goAwayAfterSettings, .goAwayAtTheRequest, .goAwayBeforeSettings, .garbage, .http1Answer:
                true
            default: false
            }
        }
    }

    /// What a server of HTTP/1.1 does wrong.
    enum HTTP1Attack: String, CaseIterable {
        case answerBeforeTheRequest, halfAnAnswerBeforeTheRequest, twoAnswers, switchesProtocols, endlessProvisional
        case garbage, headAndClose, headAndReset, shortBody, http2Preface

        var answer: String {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            switch self {
            case .answerBeforeTheRequest: return answer
            case .halfAnAnswerBeforeTheRequest: return "HTTP/1.1 200 OK\r\nContent-Le"
            case .twoAnswers: return answer + answer
            case .switchesProtocols: return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nmore"
            case .endlessProvisional:
                return Array(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 500).joined() + answer
            case .garbage: return "\u{0}\u{1}\u{2} this is not HTTP\r\n\r\n"
            case .headAndClose, .headAndReset: return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            case .shortBody: return "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"
            case .http2Preface: return String(decoding: HTTP2Frames.settings(), as: UTF8.self)
            }
        }

        var isBeforeTheRequest: Bool { self == .answerBeforeTheRequest || self == .halfAnAnswerBeforeTheRequest }

        func act(_ connection: HostileServer.Connection, _ event: HostileServer.Event) {
            // Every other connection at most is our own handshake, which is told the same: it has to bear it.
            switch event {
            case .accepted: break
            case .handshake: if self.isBeforeTheRequest { connection.write(Array(self.answer.utf8)) }
            case .bytes:
                if !self.isBeforeTheRequest { connection.write(Array(self.answer.utf8)) }
                if self == .headAndReset { connection.reset() } else { connection.close() }
            }
        }
    }

    /// Several requests at once, then one more.
    static func ask(
        _ client: PinnedHTTPClient, _ server: HostileServer, within deadline: TimeAmount = .ample
    ) async -> [Result<String, any Error>] {
        @Sendable func one() async -> Result<String, any Error> {
            do {
                let request = HTTPClientRequest(url: "https://\(Self.host):\(server.port)/")
                let response = try await client.execute(request, timeout: deadline)
                return .success(String(buffer: try await response.body.collect(upTo: 1_048_576)))
            } catch {
                return .failure(error)
            }
        }
        var results = await withTaskGroup(of: Result<String, any Error>.self) { group in
            for _ in 0..<3 { group.addTask { await one() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        results.append(await one())
        return results
    }

    @Test("a server that breaks HTTP/2: each request ends in an error or its answer", arguments: HTTP2Attack.allCases)
    func serverThatBreaksHTTP2EachRequestEndsInAnErrorOrItsAnswer(_ attack: HTTP2Attack) async throws {
        for pin in HostileHandshakeTests.PinKind.allCases {
            let (pki, scene) = try HostileHandshakeTests.scene(pin)
            let client = try scene.client([Self.host])
            try await HostileServer.with(LoopbackServer.Identity(pki.chain), http2: true) { connection, event in
                attack.act(connection, event)
            } _: { server in
                // The deadline that ends what nothing else does; it is an error after anything that was reached.
                let deadline = attack.isSilent ? TimeAmount.milliseconds(300) : .ample
                for result in await Self.ask(client, server, within: deadline) {
                    switch result {
                    case .success(let text): #expect(attack.isAnswered && pin == .right && text == "", "\(text)")
                    case .failure(let error):
                        #expect(!attack.isAnswered || pin == .wrong, "\(pin): \(error)")
                        if !attack.isSilent { HostileHandshakeTests.check(error, pin, "\(attack)") }
                    }
                }
                server.closeAll()
            }
            try await client.shutdown()
        }
    }

    @Test("a server that breaks HTTP/1.1: each request ends in an error or its answer", arguments: HTTP1Attack.allCases)
    func serverThatBreaksHTTP11EachRequestEndsInAnErrorOrItsAnswer(_ attack: HTTP1Attack) async throws {
        for pin in HostileHandshakeTests.PinKind.allCases {
            let (pki, scene) = try HostileHandshakeTests.scene(pin)
            let client = try scene.client([Self.host])
            try await HostileServer.with(LoopbackServer.Identity(pki.chain)) { connection, event in
                attack.act(connection, event)
            } _: { server in
                for result in await Self.ask(client, server) {
                    switch result {
                    case .success(let text): #expect(pin == .right && text.utf8.count <= 5, "\(text)")
                    case .failure(let error): HostileHandshakeTests.check(error, pin, "\(attack)")
                    }
                }
                if pin == .wrong { #expect(server.bytes == 0) }
                server.closeAll()
            }
            try await client.shutdown()
        }
    }

    @Test("a server that never sends its settings: the timeout for connections ends the request")
    func serverThatNeverSendsItsSettingsTheTimeoutForConnectionsEndsTheRequest() async throws {
        let (pki, scene) = try HostileHandshakeTests.scene(.right)
        try await withTimeouts(from: .milliseconds(500)) { timeout in
            let client = try HostileHandshakeTests.client(scene, connectTimeout: timeout)
            return try await HostileServer.with(LoopbackServer.Identity(pki.chain), http2: true) { _, _ in
            } _: { server in
                let error = await #expect(throws: (any Error).self) {
                    try await client.text("https://\(Self.host):\(server.port)/")
                }
                // AsyncHTTPClient's shutdown waits for connections that it is making: this one goes on for ever.
                server.closeAll()
                try await client.shutdown()
                let timeouts: [HTTPClientError] = [.connectTimeout, .getConnectionFromPoolTimeout]
                guard let error = error as? HTTPClientError, timeouts.contains(error) else { return false }
                return server.bytes > 0
            }
        }
    }
}

extension HostileHTTPTests.HTTP2Attack {
    /// Does it.
    func act(_ connection: HostileServer.Connection, _ event: HostileServer.Event) {
        switch event {
        case .accepted: break
        case .handshake: self.greet(connection)
        case .bytes(let bytes):
            for frame in HTTP2Frames.frames(in: Array(bytes.readableBytesView)) {
                // HEADERS
                if frame.type == 1 { self.answer(connection, frame.stream) }
                // SETTINGS, acknowledged
                if frame.type == 4, frame.flags == 1, self == .fewStreams || self == .settingsTwice {
                    connection.write(HTTP2Frames.settings(streams: 1))
                }
                if frame.type == 4, frame.flags == 0 { connection.write(HTTP2Frames.acknowledgement) }
            }
        }
    }

    private func greet(_ connection: HostileServer.Connection) {
        switch self {
        case .closeBeforeSettings: connection.close()
        case .resetBeforeSettings: connection.reset()
        case .goAwayBeforeSettings: connection.write(HTTP2Frames.goAway(last: 0))
        case .goAwayBeforeSettingsAndClose:
            connection.write(HTTP2Frames.goAway(last: 0))
            connection.close()
        case .goAwayAfterSettings: connection.write(HTTP2Frames.settings() + HTTP2Frames.goAway(last: 0))
        case .closeAfterSettings:
            connection.write(HTTP2Frames.settings())
            connection.close()
        case .resetAfterSettings:
            connection.write(HTTP2Frames.settings())
            connection.reset()
        case .garbage: connection.write(Array(repeating: 0xAA, count: 1_000))
        case .http1Answer: connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        case .noStreams: connection.write(HTTP2Frames.settings(streams: 0))
        case .headersOfNoStream: connection.write(HTTP2Frames.settings() + HTTP2Frames.ok(1))
        case .pushPromise:
            connection.write(
                HTTP2Frames.settings() + HTTP2Frames.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82]))
        case .goAwayAtTheRequest, .closeAtTheRequest, .resetStream, .resetAfterHeaders, .refuseStream, .settingsTwice,
            .goAwayThenAnswer, .fewStreams, .negativeStatus, .emptyStatus, .negativeStatusAfterContinue:
            connection.write(HTTP2Frames.settings(streams: self == .fewStreams ? 1 : 100))
        }
    }

    private func answer(_ connection: HostileServer.Connection, _ stream: Int) {
        if self == .negativeStatusAfterContinue {
            connection.write(HTTP2Frames.status("100", stream, isEnd: false))
        }
        if let status = self.status { return connection.write(HTTP2Frames.status(status, stream)) }
        switch self {
        case .goAwayAtTheRequest: connection.write(HTTP2Frames.goAway(last: 0))
        case .closeAtTheRequest: connection.close()
        case .resetStream: connection.write(HTTP2Frames.reset(stream, code: 8))
        case .refuseStream: connection.write(HTTP2Frames.reset(stream, code: 7))
        case .resetAfterHeaders:
            connection.write(HTTP2Frames.ok(stream, isEnd: false) + HTTP2Frames.reset(stream, code: 2))
        case .goAwayThenAnswer:
            connection.write(HTTP2Frames.goAway(last: stream))
            connection.write(HTTP2Frames.ok(stream, isEnd: false))
            connection.close()
        case .fewStreams, .settingsTwice: connection.write(HTTP2Frames.ok(stream))
        default: connection.close()
        }
    }
}
#endif
