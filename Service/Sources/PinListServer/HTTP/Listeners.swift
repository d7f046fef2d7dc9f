// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import NIOCore
internal import ServiceLifecycle

/// All listeners of the service as one: they end together, and not one after the other.
struct Listeners: Service {
    let listeners: [any Service]

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for listener in self.listeners { group.addTask { try await listener.run() } }
            // One that cannot begin ends the others.
            while try await group.next() != nil {}
        }
    }
}

/// The reason for which the service cannot listen at an address.
package struct ListenError: Error, Hashable, Sendable {
    /// The reason, in one sentence without a full stop.
    package let reason: String
    /// The next step for the operator.
    package let hint: String

    /// The system's error about an address; `nil` for an error that is not about the address.
    init?(_ error: any Error, at address: ListenAddress) {
        guard let code = (error as? IOError)?.errnoCode else { return nil }
        switch code {
        case EADDRINUSE:
            self.reason = "\(address) is in use: another program, or another instance, listens there"
            self.hint = "--listen HOST:PORT names another port; ss -ltnp shows who listens"
        case EACCES:
            self.reason = "\(address): this user may not listen on this port"
            self.hint = "a port from 1024 on, with a proxy before it; or CAP_NET_BIND_SERVICE"
        case EADDRNOTAVAIL:
            self.reason = "\(address) is not an address of this machine"
            self.hint = "--listen 127.0.0.1:PORT for this machine alone, 0.0.0.0:PORT for all of its addresses"
        default: return nil
        }
    }
}

/// A listener with the address that it was told, for the error when it cannot be opened.
struct AddressedListener: Service {
    let listener: any Service
    let address: ListenAddress

    func run() async throws {
        do { try await self.listener.run() } catch { throw ListenError(error, at: self.address) ?? error }
    }
}
