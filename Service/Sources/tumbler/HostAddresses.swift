// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
<<<<<<< HEAD
import NIOCore
import NIOPosix

/// The addresses that a host has, as this system's resolver says it.
enum HostAddresses {
    /// The most addresses of a host that are asked.
    static let most = 64

    /// Looks a host up.
    ///
    /// - Parameters:
    ///   - host: A name, or an address, which is its own.
    ///   - timeout: The longest that it may take. The resolver goes on in its thread then, and its answer is dropped.
    /// - Returns: The addresses as text, each once, sorted; none when there is no such host.
    /// - Throws: ``TimeIsUp``.
    static func all(of host: HostName, within timeout: Duration) async throws -> [String] {
        guard !host.isAddress else { return [host.description] }
        let answer = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: [String].self)
        let expiry = answer.futureResult.eventLoop.scheduleTask(in: TimeAmount(timeout)) { answer.fail(TimeIsUp()) }
        defer { expiry.cancel() }
        let name = host.description
        NIOThreadPool.singleton.submit { _ in answer.succeed(self.lookUp(name)) }
        return try await answer.futureResult.get()
    }

    /// The resolver did not answer in time.
    struct TimeIsUp: Error {}

    private static func lookUp(_ name: String) -> [String] {
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            // The longest address is one of IPv6 with the name of an interface.
            var text = [CChar](repeating: 0, count: 128)
            let length = socklen_t(text.count)
            if getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST) == 0 {
                found.insert(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            next = entry.ai_next
        }
        return found.sorted()
=======
import NIOPosix

/// The addresses that a name has, as the system's resolver says.
enum HostAddresses {
    /// The most addresses of a name that are asked.
    static let most = 64

    /// Looks them up. IPv6 addresses are left out where this machine has none of its own.
    ///
    /// - Returns: The addresses in numbers, each once; none when the name has none.
    static func resolve(_ host: HostName) async -> [String] {
        if host.isAddress { return [host.description] }
        let name = host.description
        // The resolver waits for the network.
        return (try? await NIOThreadPool.singleton.runIfActive { Self.lookUp(name) }) ?? []
    }

    private static func lookUp(_ name: String) -> [String] {
        var hints = addrinfo()
        hints.ai_flags = AI_ADDRCONFIG
        hints.ai_family = AF_UNSPEC
        #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
        #else
        hints.ai_socktype = Int32(bitPattern: SOCK_STREAM.rawValue)
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0, let first else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let entry = next, addresses.count < Self.most {
            next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: 1_024)
            guard
                getnameinfo(
                    entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, 1_024, nil, 0,
                    NI_NUMERICHOST) == 0
            else { continue }
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
>>>>>>> 46efe45 (tumbler: rotate plan and status (not yet in the list of commands))
    }
}
