// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation

/// A socket that listens on a free port of this machine, and answers the first thing it is told, or nothing.
///
/// `@unchecked Sendable`: because nothing changes but the flag, under the lock.
final class LoopbackListener: @unchecked Sendable {
    /// What the system refused.
    struct Failed: Error {}

    let port: UInt16
    private let file: Int32
    private let lock = NSLock()
    private var isOpen = true

    /// Listens.
    ///
    /// - Parameter answer: The answer to every connection after its first bytes; `nil` to accept none.
    init(answer: [UInt8]? = nil) throws {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(file, address, length) == 0, listen(file, 8) == 0 else { return false }
                return getsockname(file, address, &length) == 0
            }
        }
        guard result else { throw Failed() }
        self.file = file
        self.port = UInt16(bigEndian: address.sin_port)
        guard let answer else { return }
        // The thread's own: the number of what is closed meanwhile is that of another file.
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Failed() }
        Thread.detachNewThread {
            defer { close(copy) }
            while true {
                let client = accept(copy, nil, nil)
                guard client >= 0 else { return }
                var byte: UInt8 = 0
                if read(client, &byte, 1) == 1 { _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) }
                shutdown(client, Int32(SHUT_WR))
                // Until the other end is read out: closing with bytes unread would reset the connection.
                while read(client, &byte, 1) == 1 {}
                close(client)
            }
        }
    }

    /// A connection of this process to it.
    func connect() throws -> Int32 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port: self.port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failed() }
        return client
    }

    /// The other end of the next connection that waits here.
    func accepted() throws -> Int32 {
        let accepted = accept(self.file, nil, nil)
        guard accepted >= 0 else { throw Failed() }
        return accepted
    }

    /// The port of a socket's own end.
    static func ownPort(of file: Int32) throws -> UInt16 {
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
        }
        guard result == 0 else { throw Failed() }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Listens no more.
    func end() {
        self.lock.withLock {
            guard self.isOpen else { return }
            self.isOpen = false
            shutdown(self.file, Int32(SHUT_RDWR))
            close(self.file)
        }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
#endif
