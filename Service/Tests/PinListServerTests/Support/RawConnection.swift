// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A connection to a port of the loopback interface as bytes: what no HTTP client would send.
///
/// Used by one thread, which blocks; nothing waits for longer than ``patience``.
struct RawConnection {
    /// The error of a socket.
    struct Failure: Error {
        let call: String
    }

    /// The number of seconds that anything may take, which is far more than it takes.
    static let patience = 1_800

    private let descriptor: Int32

    /// Talks on a thread of its own, and closes the connection.
    static func talk<Result: Sendable>(
        to port: Int, _ body: @escaping @Sendable (RawConnection) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        let connection = try RawConnection(port)
                        defer { close(connection.descriptor) }
                        return try body(connection)
                    })
            }
        }
    }

    /// Sends bytes, and reads to the end of the connection.
    static func ask(_ port: Int, _ bytes: [UInt8]) async throws -> RawAnswer {
        try await Self.talk(to: port) { connection in
            connection.send(bytes)
            return connection.rest()
        }
    }

    /// Connects.
    ///
    /// - Parameter receiveBuffer: How many bytes the system keeps that were not read, and segments are small as well, so
    ///   that the other side's system keeps little; `nil` for what is usual.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard self.descriptor >= 0 else { throw Failure(call: "socket") }
        if var size = receiveBuffer {
            setsockopt(self.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var segment: Int32 = 1_200
            setsockopt(
                self.descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, socklen_t(MemoryLayout<Int32>.size))
        }
        self.setPatience(milliseconds: Self.patience * 1_000)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let descriptor = self.descriptor
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(self.descriptor)
            throw Failure(call: "connect")
        }
    }

    /// Says that nothing more is sent; answers still come.
    func endSending() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// Ends the connection.
    func end() { close(self.descriptor) }

    /// Whether something came that was not read: it is looked at without waiting.
    var hasUnread: Bool {
        var byte: UInt8 = 0
        return recv(self.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    private func setPatience(milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1_000, tv_usec: (milliseconds % 1_000) * 1_000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(self.descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Sends bytes, as far as the other side takes them: that it closed shows when it is read from.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(self.descriptor, $0.baseAddress, $0.count, Self.flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static let flags = Int32(MSG_NOSIGNAL)

    /// Everything that comes until the end of the connection.
    func rest() -> RawAnswer { self.read { _ in false } }

    /// So many bytes, or what came until the end of the connection.
    func read(count: Int) -> RawAnswer { self.read { $0.bytes.count >= count } }

    /// Everything that comes until a text has come.
    func read(until text: String) -> RawAnswer { self.read { $0.text.contains(text) } }

    /// Everything that comes until so many answers have begun.
    func read(answers count: Int) -> RawAnswer { self.read { $0.statuses.count >= count } }

    private func read(_ isEnough: (RawAnswer) -> Bool) -> RawAnswer {
        var answer = RawAnswer()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(answer) {
            let count = recv(self.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                answer.isEnded = count == 0 || errno == ECONNRESET
                return answer
            }
            answer.bytes += buffer.prefix(count)
        }
        return answer
    }

    /// Sends a byte again and again, a pause after each, until the other side ends the connection.
    func drip(_ byte: UInt8, pause milliseconds: Int) -> RawAnswer {
        self.setPatience(milliseconds: milliseconds)
        var answer = RawAnswer()
        for _ in 0..<(Self.patience * 1_000 / milliseconds) {
            self.send([byte])
            let more = self.rest()
            answer.bytes += more.bytes
            answer.isEnded = more.isEnded
            if answer.isEnded { break }
        }
        return answer
    }
}

/// An answer as it came.
struct RawAnswer: Sendable {
    /// The bytes.
    var bytes: [UInt8] = []
    /// Whether the other side ended the connection.
    var isEnded = false

    /// As a text.
    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    /// The statuses of the answers, in their order.
    var statuses: [Int] {
        self.text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
    }
}
