// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A port of the loopback interface that does not speak TLS.
enum LoopbackPort {
    /// The fate of connections to the port.
    enum Behaviour {
        /// They are refused; no other process gets the port meanwhile.
        case closed
        /// They are connected and hear nothing.
        case silent
        /// The first of them hears a text, if any, and is disconnected.
        case says(String)
    }

    /// Whether there is an IPv6 loopback interface.
    static let hasIPv6: Bool = {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }()

    /// Runs `body` with the number of such a port.
    static func with<Result>(_ behaviour: Behaviour, _ body: (Int) async throws -> Result) async throws -> Result {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        try #require(descriptor >= 0)
        defer {
            // Wakes the thread that waits for a connection.
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }
        let port = try #require(Self.bindToLoopback(descriptor))
        switch behaviour {
        case .closed: break
        case .silent: try #require(listen(descriptor, 8) == 0)
        case .says(let text):
            try #require(listen(descriptor, 8) == 0)
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            try #require(copy >= 0)
            Thread.detachNewThread { Self.answerOnce(copy, text) }
        }
        return try await body(port)
    }

    private static func bindToLoopback(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    /// Takes the descriptor over.
    private static func answerOnce(_ descriptor: Int32, _ text: String) {
        let connection = accept(descriptor, nil, nil)
        close(descriptor)
        guard connection >= 0 else { return }
        var greeting = [UInt8](repeating: 0, count: 4_096)
        _ = recv(connection, &greeting, greeting.count, 0)
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        // What comes now, and was not read, would make the end a reset, and take the text along.
        shutdown(connection, Int32(SHUT_WR))
        while recv(connection, &greeting, greeting.count, 0) > 0 {}
        close(connection)
    }
}
