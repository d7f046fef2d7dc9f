// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One transfer. `Sendable` on Apple's platforms.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
open class URLSessionTask: NSObject, @unchecked Sendable {
    /// How far a task is.
    public enum State: Int, Sendable {
        /// It works.
        case running = 0
        /// It was not begun, or rests.
        case suspended = 1
        /// It was cancelled, and is not over.
        case canceling = 2
        /// It is over.
        case completed = 3
    }

    /// Who gets what came.
    enum Receiver: Sendable {
        case delegate
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case file(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    }

    /// What changes in a task.
    struct Progress {
        var state = State.suspended
        var current: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var wasBegun = false
        var isCancelled = false
        var cancelActions: [Int: @Sendable () -> Void] = [:]
        var nextAction = 0
        var received: Int64 = 0
        var sent: Int64 = 0
        var description: String?
        var priority: Float = 0.5
        var earliest: Date?
    }

    /// The lowest priority.
    public static let lowPriority: Float = 0.25
    /// The priority of all that have no other.
    public static let defaultPriority: Float = 0.5
    /// The highest priority.
    public static let highPriority: Float = 0.75

    /// A number that no other task of the session has.
    public let taskIdentifier: Int
    /// The request that it was made with.
    public let originalRequest: URLRequest?
    let session: URLSession
    let receiver: Receiver
    private let lock = NSLock()
    private var progress = Progress()

    init(_ session: URLSession, _ request: URLRequest?, _ receiver: Receiver) {
        self.taskIdentifier = session.nextIdentifier()
        self.session = session
        self.originalRequest = request
        self.receiver = receiver
        self.progress.current = request
    }

    func with<Result>(_ body: (inout Progress) -> Result) -> Result { self.lock.withLock { body(&self.progress) } }

    /// The request that it has now: another one after a redirect.
    open var currentRequest: URLRequest? { self.with { $0.current } }
    /// The response.
    open var response: URLResponse? { self.with { $0.response } }
    /// Why it failed.
    open var error: (any Error)? { self.with { $0.error } }
    /// How far it is.
    open var state: State { self.with { $0.state } }
    /// How many bytes of the body came.
    open var countOfBytesReceived: Int64 { self.with { $0.received } }
    /// How many bytes of the body were sent.
    open var countOfBytesSent: Int64 { self.with { $0.sent } }
    /// How many bytes will come; -1 when that is not known.
    open var countOfBytesExpectedToReceive: Int64 { self.response?.expectedContentLength ?? -1 }

    /// The task's own delegate (iOS 15). It cannot be set after `resume`, nor in a background session: then nothing
    /// happens here. It is `nil` when the task is over.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { self.with { $0.delegate } }
        set {
            guard self.session.identifier == nil else { return }
            self.with { if !$0.wasBegun { $0.delegate = newValue } }
        }
    }

    /// A text for people.
    open var taskDescription: String? {
        get { self.with { $0.description } }
        set { self.with { $0.description = newValue } }
    }

    /// How it is ranked, from 0 to 1.
    open var priority: Float {
        get { self.with { $0.priority } }
        set { self.with { $0.priority = newValue } }
    }

    /// When it may begin, in a background session (iOS 11). Ignored here.
    open var earliestBeginDate: Date? {
        get { self.with { $0.earliest } }
        set { self.with { $0.earliest = newValue } }
    }

    /// Begins, or goes on.
    open func resume() {
        let begins = self.with { progress in
            guard progress.state == .suspended else { return false }
            progress.state = .running
            defer { progress.wasBegun = true }
            return !progress.wasBegun
        }
        if begins { self.begin() }
    }

    /// Rests. Here it goes on with what it has begun.
    open func suspend() { self.with { if $0.state == .running { $0.state = .suspended } } }

    /// Ends with `URLError.cancelled`.
    open func cancel() {
        let (actions, begins) = self.with { progress -> ([@Sendable () -> Void], Bool) in
            guard progress.state != .completed, !progress.isCancelled else { return ([], false) }
            progress.isCancelled = true
            progress.state = .canceling
            defer { progress.wasBegun = true }
            return (Array(progress.cancelActions.values), !progress.wasBegun)
        }
        for action in actions { action() }
        if begins { self.begin() }
    }

    // MARK: For the session

    func begin() { Task.detached { await TaskRun(self).run() } }

    /// Who is told about the task.
    var listener: (any URLSessionTaskDelegate)? {
        self.delegate ?? self.session.delegate as? any URLSessionTaskDelegate
    }

    /// Who is told about the task in another role.
    func listener<Role>(as role: Role.Type) -> Role? { self.delegate as? Role ?? self.session.delegate as? Role }

    /// Does something when the task is cancelled, or at once when it was.
    func onCancel(_ action: @escaping @Sendable () -> Void) -> Int? {
        let number: Int? = self.with { progress in
            guard !progress.isCancelled else { return nil }
            progress.nextAction += 1
            progress.cancelActions[progress.nextAction] = action
            return progress.nextAction
        }
        if number == nil { action() }
        return number
    }

    func forgetAction(_ number: Int?) {
        guard let number else { return }
        self.with { $0.cancelActions[number] = nil }
    }
}
