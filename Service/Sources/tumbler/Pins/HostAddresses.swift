// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOCore
import NIOPosix

/// The addresses that a host has, as this system's resolver says it.
enum HostAddresses {
    /// The maximum number of addresses of a host that are asked: a resolver may name any number.
    static let maximum = 64

    /// A family of addresses.
    enum Family: String, Sendable {
        case ipv4
        case ipv6

        /// As people write it.
        var name: String { self == .ipv4 ? "IPv4" : "IPv6" }

        /// Whether an address is of it.
        func contains(_ address: String) -> Bool { address.contains(":") == (self == .ipv6) }
    }

    /// The addresses of a host that are looked up.
    enum Scope: Sendable {
        /// All that the host has: each of them is looked at.
        case every
        /// Those of the families of which this machine has an address itself: one of them is connected to.
        case usable
    }

    /// Looks a host up.
    ///
    /// - Parameters:
    ///   - host: A name, or an address, which is its own.
    ///   - timeout: The longest that it may take. The resolver goes on in its thread then, and its answer is dropped.
    ///   - family: The addresses that count; `nil` for all.
    ///   - scope: The addresses that are looked up.
    /// - Returns: The addresses as text, each once, sorted; none when there is no such host.
    /// - Throws: ``TimeoutError``.
    static func all(
        of host: HostName, within timeout: Duration, _ family: Family? = nil, _ scope: Scope = .every
    ) async throws -> [String] {
        guard !host.isAddress else { return [host.description].filter { family?.contains($0) ?? true } }
        let answer = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: [String].self)
        let expiry = answer.futureResult.eventLoop.scheduleTask(in: TimeAmount(timeout)) { answer.fail(TimeoutError()) }
        defer { expiry.cancel() }
        let name = host.description
        NIOThreadPool.singleton.submit { _ in answer.succeed(self.lookUp(name, scope)) }
        return try await answer.futureResult.get().filter { family?.contains($0) ?? true }
    }

    /// The resolver did not answer in time.
    struct TimeoutError: Error {}

    /// The demand on the resolver. Without one glibc leaves out the families of which this machine has no address.
    static func hints(_ scope: Scope) -> addrinfo {
        var hints = addrinfo()
        hints.ai_flags = scope == .usable ? AI_ADDRCONFIG : 0
        hints.ai_socktype = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue)
        return hints
    }

    private static func lookUp(_ name: String, _ scope: Scope) -> [String] {
        var hints = self.hints(scope)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
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
    }
}
