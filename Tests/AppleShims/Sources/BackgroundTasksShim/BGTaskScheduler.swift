// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import Foundation

/// Starts an app in the background (iOS 13; not on macOS). Not `Sendable`.
open class BGTaskScheduler: NSObject {
    /// Why a request is not taken.
    public struct Error: Swift.Error, Hashable, Sendable {
        /// Which reason.
        public enum Code: Int, Sendable {
            /// The app or the user does not allow it.
            case unavailable = 1
            /// There are too many requests.
            case tooManyPendingTaskRequests = 2
            /// The identifier is not in the app's list.
            case notPermitted = 3
        }

        /// Which reason.
        public let code: Code

        /// An error.
        public init(_ code: Code) { self.code = code }
    }

    /// The scheduler of the process.
    open class var shared: BGTaskScheduler { self.ofProcess }

    // because what changes is read and written under the lock only
    nonisolated(unsafe) private static let ofProcess = BGTaskScheduler()

    private let lock = NSLock()
    private var handlers: [String: (DispatchQueue?, (BGTask) -> Void)] = [:]
    private var requests: [String: BGTaskRequest] = [:]

    /// Says what is done for an identifier; `false` when the identifier is registered already.
    @discardableResult
    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        self.lock.withLock {
            guard self.handlers[identifier] == nil else { return false }
            self.handlers[identifier] = (queue, launchHandler)
            return true
        }
    }

    /// Asks to be started; replaces what was asked for the same identifier.
    open func submit(_ taskRequest: BGTaskRequest) throws {
        try self.lock.withLock {
            guard self.handlers[taskRequest.identifier] != nil else { throw Error(.notPermitted) }
            self.requests[taskRequest.identifier] = taskRequest
        }
    }

    /// Takes back what was asked.
    open func cancel(taskRequestWithIdentifier identifier: String) {
        self.lock.withLock { self.requests[identifier] = nil }
    }

    /// Takes back all that was asked.
    open func cancelAllTaskRequests() { self.lock.withLock { self.requests = [:] } }

    /// What was asked and not done.
    open func getPendingTaskRequests(completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void) {
        let requests = self.lock.withLock { Array(self.requests.values) }
        completionHandler(requests)
    }

    // MARK: For SimulatedScheduler

    func take(_ identifier: String) -> (BGTaskRequest, DispatchQueue?, (BGTask) -> Void)? {
        self.lock.withLock {
            guard let (queue, handler) = self.handlers[identifier] else { return nil }
            guard let request = self.requests.removeValue(forKey: identifier) else { return nil }
            return (request, queue, handler)
        }
    }

    func request(_ identifier: String) -> BGTaskRequest? { self.lock.withLock { self.requests[identifier] } }
}
