// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What an app is started for in the background (iOS 16).
public struct BackgroundTask<Request, Response>: Sendable {
    let identifier: String
}

extension BackgroundTask where Request == Void, Response == Void {
    /// Keeps content new, by the identifier of a request.
    public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> {
        BackgroundTask(identifier: identifier)
    }
}

extension Scene {
    /// Runs something when the app is started for it (iOS 16): here, by `SimulatedBackgroundTasks`.
    nonisolated public func backgroundTask<Request: Sendable, Response: Sendable>(
        _ task: BackgroundTask<Request, Response>, action: @escaping @Sendable (Request) async -> Response
    ) -> some Scene {
        if let nothing = () as? Request { SimulatedBackgroundTasks.set(task.identifier) { _ = await action(nothing) } }
        return self
    }
}

/// What is not Apple's: the actions that scenes have for starts in the background.
public enum SimulatedBackgroundTasks {
    private static let lock = NSLock()
    // because it is used under the lock only
    nonisolated(unsafe) private static var actions: [String: @Sendable () async -> Void] = [:]

    static func set(_ identifier: String, _ action: @escaping @Sendable () async -> Void) {
        self.lock.withLock { self.actions[identifier] = action }
    }

    /// Runs the action for an identifier; says whether there is one.
    public static func run(_ identifier: String) async -> Bool {
        guard let action = self.lock.withLock({ self.actions[identifier] }) else { return false }
        await action()
        return true
    }
}
