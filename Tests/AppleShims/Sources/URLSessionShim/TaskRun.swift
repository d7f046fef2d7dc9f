// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A task on its way, as Apple documents it: connection, challenge, request, response, data, metrics, end.
///
/// One asynchronous function after the other; each call of the delegate waits for its turn on the delegate's queue.
struct TaskRun: Sendable {
    let task: URLSessionTask
    let session: URLSession
    let network: SimulatedNetwork
    let measured = Measured()

    init(_ task: URLSessionTask) {
        self.task = task
        self.session = task.session
        self.network = task.session.network
    }

    /// The response that counts, and what is left to come of it.
    struct Final {
        let response: HTTPURLResponse
        let answer: SimulatedNetwork.Answer
        /// Whether it came from the session's cache.
        var isCached = false
    }

    /// The whole way.
    func run() async {
        let start = Date()
        var error: (any Error)?
        var received: (data: Data?, file: URL?) = (nil, nil)
        do {
            if let socket = self.task as? URLSessionWebSocketTask {
                try await self.converse(socket)
            } else if let stream = self.task as? URLSessionStreamTask {
                try await self.stream(stream)
            } else {
                try self.checkCancellation()
                let final: Final = if let cached = self.cached() { cached } else { try await self.respond() }
                received = try await self.receive(final)
            }
        } catch let failure {
            error = self.described(failure)
        }
        let response = self.task.response
        let metrics = URLSessionTaskMetrics(
            transactionMetrics: self.measured.transactions,
            taskInterval: DateInterval(start: start, end: max(start, Date())), redirectCount: self.measured.redirects)
        await self.tell { run in
            run.task.listener?.urlSession(run.session, task: run.task, didFinishCollecting: metrics)
        }
        let failure = error
        let (data, file) = received
        self.task.with { progress in
            progress.state = .completed
            progress.error = failure
        }
        await self.tell { run in
            switch run.task.receiver {
            case .delegate: run.task.listener?.urlSession(run.session, task: run.task, didCompleteWithError: failure)
            case .data(let handler): handler(failure == nil ? data : nil, failure == nil ? response : nil, failure)
            case .file(let handler): handler(failure == nil ? file : nil, failure == nil ? response : nil, failure)
            }
        }
        let keepsFile = (self.task as? URLSessionDownloadTask)?.keepsFile ?? false
        if let file, !keepsFile { try? FileManager.default.removeItem(at: file) }
        self.task.with { $0.delegate = nil }
        self.session.remove(self.task)
    }

    // MARK: The delegate's queue

    /// Tells the delegate something, on its queue.
    func tell(_ body: @escaping @Sendable (TaskRun) -> Void) async {
        await withCheckedContinuation { continuation in
            self.session.delegateQueue.addOperation {
                body(self)
                continuation.resume()
            }
        }
    }

    /// Asks the delegate something, on its queue; gives up when the task is cancelled before the answer.
    func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (TaskRun, @escaping @Sendable (Answer) -> Void) -> Void
    ) async throws -> Answer {
        let pending = Pending<Answer>()
        let action = self.task.onCancel { pending.finish(.failure(URLError(.cancelled))) }
        defer { self.task.forgetAction(action) }
        self.session.delegateQueue.addOperation { body(self) { pending.finish(.success($0)) } }
        return try await pending.value()
    }

    /// Throws when the task was cancelled.
    func checkCancellation() throws {
        if self.task.with({ $0.isCancelled }) { throw URLError(.cancelled) }
    }

    // MARK: Errors

    /// The error with the address that Apple puts into it.
    private func described(_ error: any Error) -> any Error {
        let isCancelled = self.task.with { $0.isCancelled }
        guard let error = error as? URLError else { return error }
        var information = error.userInfo
        if let url = self.task.currentRequest?.url ?? self.task.originalRequest?.url {
            information[NSURLErrorFailingURLErrorKey] = url
            information["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        return URLError(isCancelled ? .cancelled : error.code, userInfo: information)
    }
}

/// What was measured on a task's way.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class Measured: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [URLSessionTaskTransactionMetrics.Values] = []
    private var countOfRedirects = 0

    var transactions: [URLSessionTaskTransactionMetrics] {
        self.lock.withLock { self.values.map(URLSessionTaskTransactionMetrics.init) }
    }

    var redirects: Int { self.lock.withLock { self.countOfRedirects } }

    func begin(_ request: URLRequest) {
        self.lock.withLock {
            self.values.append(URLSessionTaskTransactionMetrics.Values(request: request, fetchStart: Date()))
        }
    }

    func change(_ body: (inout URLSessionTaskTransactionMetrics.Values) -> Void) {
        self.lock.withLock { if let last = self.values.indices.last { body(&self.values[last]) } }
    }

    func noteRedirect() { self.lock.withLock { self.countOfRedirects += 1 } }
}
