// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an app asks to be started for. Not `Sendable`.
open class BGTaskRequest: NSObject {
    /// Which task.
    public let identifier: String
    /// Not before this.
    open var earliestBeginDate: Date?

    init(name: String) { self.identifier = name }
}

/// A short task that keeps content new.
open class BGAppRefreshTaskRequest: BGTaskRequest {
    /// A request.
    public init(identifier: String) { super.init(name: identifier) }
}

/// A task of minutes.
open class BGProcessingTaskRequest: BGTaskRequest {
    /// Whether there must be a network.
    open var requiresNetworkConnectivity = false
    /// Whether there must be power.
    open var requiresExternalPower = false

    /// A request.
    public init(identifier: String) { super.init(name: identifier) }
}

/// A task that was begun. Not `Sendable`.
open class BGTask: NSObject {
    /// Which task.
    public let identifier: String
    let completion = Completion()
    private let lock = NSLock()
    private var handler: (() -> Void)?

    init(_ identifier: String) { self.identifier = identifier }

    /// Called when the time is over.
    open var expirationHandler: (() -> Void)? {
        get { self.lock.withLock { self.handler } }
        set { self.lock.withLock { self.handler = newValue } }
    }

    /// Ends it. Must be called, and once.
    open func setTaskCompleted(success: Bool) { self.completion.give(success) }
}

/// A short task that keeps content new.
open class BGAppRefreshTask: BGTask {}

/// A task of minutes.
open class BGProcessingTask: BGTask {}

/// What is waited for until a task is completed.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class Completion: @unchecked Sendable {
    private let lock = NSLock()
    private var given: [Bool] = []
    private var waiting: CheckedContinuation<Bool, Never>?

    func give(_ success: Bool) {
        let waiting = self.lock.withLock {
            self.given.append(success)
            defer { self.waiting = nil }
            return self.waiting
        }
        waiting?.resume(returning: success)
    }

    func value() async -> Bool {
        await withCheckedContinuation { continuation in
            let known = self.lock.withLock {
                if self.given.isEmpty { self.waiting = continuation }
                return self.given.first
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
