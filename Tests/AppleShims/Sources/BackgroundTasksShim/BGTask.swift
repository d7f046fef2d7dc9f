// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an app asks to be started for.
///
/// `@unchecked Sendable`: because it is not changed once it was submitted.
open class BGTaskRequest: NSObject, @unchecked Sendable {
    /// Which task.
    public let identifier: String
    /// Not before this.
    open var earliestBeginDate: Date?

    init(name: String) { self.identifier = name }
}

/// A short task that keeps content new. `Sendable`: because it adds nothing.
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// A request.
    public init(identifier: String) { super.init(name: identifier) }
}

/// A task of minutes. `Sendable`: because it is not changed once it was submitted.
open class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Whether there must be a network.
    open var requiresNetworkConnectivity = false
    /// Whether there must be power.
    open var requiresExternalPower = false

    /// A request.
    public init(identifier: String) { super.init(name: identifier) }
}

/// A task that was begun.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
open class BGTask: NSObject {
    /// Which task.
    public let identifier: String
    private let lock = NSLock()
    private var handler: (@Sendable () -> Void)?
    private var completed: [Bool] = []
    private var waiting: CheckedContinuation<Bool, Never>?

    init(_ identifier: String) { self.identifier = identifier }

    /// Called when the time is over.
    open var expirationHandler: (@Sendable () -> Void)? {
        get { self.lock.withLock { self.handler } }
        set { self.lock.withLock { self.handler = newValue } }
    }

    /// Ends it. Must be called, and once.
    open func setTaskCompleted(success: Bool) {
        let waiting = self.lock.withLock {
            self.completed.append(success)
            defer { self.waiting = nil }
            return self.waiting
        }
        waiting?.resume(returning: success)
    }

    func completion() async -> Bool {
        await withCheckedContinuation { continuation in
            let known = self.lock.withLock {
                if self.completed.isEmpty { self.waiting = continuation }
                return self.completed.first
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}

/// A short task that keeps content new. `Sendable`: because it adds nothing.
open class BGAppRefreshTask: BGTask {}

/// A task of minutes. `Sendable`: because it adds nothing.
open class BGProcessingTask: BGTask {}
