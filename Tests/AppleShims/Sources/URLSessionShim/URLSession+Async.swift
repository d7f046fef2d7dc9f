// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension URLSession {
    /// Data for a request (iOS 15).
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await self.value(delegate) { session, handler in
            URLSessionDataTask(session, request, .data(handler))
        }
    }

    /// Data from an address (iOS 15).
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await self.data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Uploads bytes (iOS 15).
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await self.value(delegate) { session, handler in
            URLSessionUploadTask(session, request.with(body: bodyData), .data(handler))
        }
    }

    /// Uploads a file (iOS 15).
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await self.upload(for: request, from: Data(contentsOf: fileURL), delegate: delegate)
    }

    /// Downloads into a file, which is the caller's (iOS 15).
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await self.value(delegate) { session, handler in
            let task = URLSessionDownloadTask(session, request, .file(handler))
            task.keepsFile = true
            return task
        }
    }

    /// Downloads into a file, which is the caller's (iOS 15).
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await self.download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Downloads the rest into a file, which is the caller's (iOS 15): here, the whole.
    public func download(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        guard let request = URLRequest(resuming: resumeData) else { throw URLError(.badURL) }
        return try await self.download(for: request, delegate: delegate)
    }

    /// The bytes of a response (iOS 15).
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let holder = TaskHolder()
        let (data, response): (Data, URLResponse) = try await self.value(delegate) { session, handler in
            let task = URLSessionDataTask(session, request, .data(handler))
            holder.task = task
            return task
        }
        guard let task = holder.task else { throw URLError(.unknown) }
        return (AsyncBytes(task: task, data: data), response)
    }

    /// The bytes of a response (iOS 15).
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await self.bytes(for: URLRequest(url: url), delegate: delegate)
    }

    /// The bytes of a response: here, all of them came before the first one is given.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        /// The task.
        public let task: URLSessionDataTask
        let data: Data

        /// Reads byte by byte.
        public typealias AsyncIterator = Iterator

        /// Reads byte by byte.
        public struct Iterator: AsyncIteratorProtocol {
            var rest: Data.Iterator

            /// The next byte.
            public mutating func next() async throws -> UInt8? { self.rest.next() }
        }

        /// Begins with the first byte.
        public func makeAsyncIterator() -> Iterator { Iterator(rest: self.data.makeIterator()) }
    }

    /// Waits for a task's completion handler; cancelled with the caller.
    private func value<Value: Sendable>(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ make:
            @Sendable (URLSession, @escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void)
            -> URLSessionTask
    ) async throws -> (Value, URLResponse) {
        let pending = Pending<(Value, URLResponse)>()
        precondition(self.identifier == nil, "Completion handler blocks are not supported in background sessions")
        let task = self.adopt(
            make(self) { value, response, error in
                if let value, let response {
                    pending.finish(.success((value, response)))
                } else {
                    pending.finish(.failure(error ?? URLError(.unknown)))
                }
            }, delegate: delegate)
        return try await withTaskCancellationHandler {
            task.resume()
            return try await pending.value()
        } onCancel: {
            task.cancel()
        }
    }
}

/// Remembers the task that was made.
///
/// `@unchecked Sendable`: because it is written before the task begins and read after it ended.
private final class TaskHolder: @unchecked Sendable {
    var task: URLSessionDataTask?
}
