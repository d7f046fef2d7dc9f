// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A session: tasks with one configuration and one delegate. `Sendable` on Apple's platforms.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
open class URLSession: NSObject, @unchecked Sendable {
    /// The session of the process, without a delegate.
    public static let shared = URLSession(configuration: .default)

    /// Where the delegate is called.
    public let delegateQueue: OperationQueue
    /// A name for people.
    open var sessionDescription: String?
    let pool = ConnectionPool()
    private let settings: URLSessionConfiguration
    private let lock = NSLock()
    private var listener: (any URLSessionDelegate)?
    private var tasks: [URLSessionTask] = []
    private var lastIdentifier = 0
    private var isInvalid = false

    /// A session without a delegate.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// A session. It keeps its delegate until it is invalidated; without a queue, it makes a serial one.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.settings = configuration.duplicate()
        self.listener = delegate
        if let queue {
            self.delegateQueue = queue
        } else {
            self.delegateQueue = OperationQueue()
            self.delegateQueue.maxConcurrentOperationCount = 1
        }
    }

    /// A copy of the configuration.
    open var configuration: URLSessionConfiguration { self.settings.duplicate() }

    /// The delegate; `nil` when the session is over.
    open var delegate: (any URLSessionDelegate)? { self.lock.withLock { self.listener } }

    /// The name of a background session.
    var identifier: String? { self.settings.identifier }

    var network: SimulatedNetwork { self.settings.simulatedNetwork ?? .shared }

    // MARK: The tasks

    /// Registers a task, and tells the delegate that it was made.
    func adopt<Kind: URLSessionTask>(_ task: Kind, delegate: (any URLSessionTaskDelegate)? = nil) -> Kind {
        self.lock.withLock {
            precondition(!self.isInvalid, "Task created in a session that has been invalidated")
            self.tasks.append(task)
        }
        task.delegate = delegate
        task.listener?.urlSession(self, didCreateTask: task)
        return task
    }

    func nextIdentifier() -> Int {
        self.lock.withLock {
            self.lastIdentifier += 1
            return self.lastIdentifier
        }
    }

    /// A task is over.
    func remove(_ task: URLSessionTask) {
        let (isLast, isOver) = self.lock.withLock {
            self.tasks.removeAll { $0 === task }
            return (self.tasks.isEmpty, self.tasks.isEmpty && self.isInvalid)
        }
        if isLast, self.identifier != nil {
            self.delegateQueue.addOperation { self.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
        }
        if isOver { self.end() }
    }

    /// The tasks that are not over.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let tasks = self.lock.withLock { self.tasks }
        self.delegateQueue.addOperation { completionHandler(tasks) }
    }

    /// The tasks that are not over.
    open var allTasks: [URLSessionTask] { get async { self.lock.withLock { self.tasks } } }

    /// The tasks that are not over, by their kinds.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
            ) -> Void
    ) {
        let tasks = self.lock.withLock { self.tasks }
        let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
        let downloads = tasks.compactMap { $0 as? URLSessionDownloadTask }
        let others = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
        self.delegateQueue.addOperation { completionHandler(others, uploads, downloads) }
    }

    // MARK: The end

    /// Lets later requests take new connections.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        self.pool.flush()
        self.delegateQueue.addOperation(completionHandler)
    }

    /// Lets later requests take new connections.
    open func flush() async { self.pool.flush() }

    /// Forgets cookies, caches and credentials, and does what `flush` does.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        self.flush(completionHandler: completionHandler)
    }

    /// Forgets cookies, caches and credentials, and does what `flush` does.
    open func reset() async { self.pool.flush() }

    /// Ends the session when its tasks are over.
    open func finishTasksAndInvalidate() {
        let isIdle = self.lock.withLock {
            guard !self.isInvalid else { return false }
            self.isInvalid = true
            return self.tasks.isEmpty
        }
        if isIdle { self.end() }
    }

    /// Ends the session with all of its tasks.
    open func invalidateAndCancel() {
        let tasks = self.lock.withLock { self.tasks }
        self.finishTasksAndInvalidate()
        for task in tasks { task.cancel() }
    }

    /// Tells the delegate, and lets it go.
    private func end() {
        let listener = self.delegate
        self.delegateQueue.addOperation {
            listener?.urlSession(self, didBecomeInvalidWithError: nil)
            self.lock.withLock { self.listener = nil }
        }
    }
}
