// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

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
