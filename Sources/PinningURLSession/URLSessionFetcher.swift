// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PinFailureReports
public import PinListClient
@_spi(Adapters) internal import PinListMetadata

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Fetches with Foundation's URLSession, under the platform's default validation: without a delegate for challenges,
/// cache, cookies or credentials.
public struct URLSessionFetcher: ListFetcher, ReportSender {
    /// The number of bytes that are read of an answer to a report: its status and its fields count.
    private static let answerBytes = 65_536

    private let firstByteSeconds: Double
    private let totalSeconds: Double

    /// Creates the fetcher.
    public init() {
        self.init(firstByteSeconds: FetchRequest.firstByteSeconds, totalSeconds: FetchRequest.totalSeconds)
    }

    /// A fetcher with other limits, for tests that cannot wait.
    init(firstByteSeconds: Double, totalSeconds: Double) {
        self.firstByteSeconds = firstByteSeconds
        self.totalSeconds = totalSeconds
    }

    /// Gets a resource, in a session of its own: nothing is kept between two requests.
    ///
    /// - Throws: `FetchError`.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        guard ReportAddress.isAllowed(request.address), let url = URL(string: request.address) else {
            throw FetchError(.network, "the address is not an https URL")
        }
        var message = URLRequest(url: url)
        message.httpShouldHandleCookies = false
        message.setValue(request.ifNoneMatch, forHTTPHeaderField: "If-None-Match")
        // Lists are never compressed: what is counted while reading is what was sent.
        message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return try await self.run(message, maximumBytes: request.maximumBytes)
    }

    /// Posts a report, likewise. Of the answer's body, however long it is, only a little is read.
    ///
    /// - Throws: `FetchError`.
    public func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        try await self.send(body, to: address, fields: [:])
    }

    /// Posts a report with further fields, which no redirect carries along. Method, body and media type go along whatever the
    /// status of the redirect.
    ///
    /// - Throws: `FetchError`.
    public func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse {
        guard ReportAddress.isAllowed(address), let url = URL(string: address) else {
            throw FetchError(.network, "the address is not an https URL")
        }
        var message = URLRequest(url: url)
        message.httpMethod = "POST"
        message.httpShouldHandleCookies = false
        message.httpBody = Data(body)
        message.setValue(Report.contentType, forHTTPHeaderField: "Content-Type")
        for (name, value) in fields { message.setValue(value, forHTTPHeaderField: name) }
        return try await self.run(message, maximumBytes: Self.answerBytes, isCut: true)
    }

    private func run(_ message: URLRequest, maximumBytes: Int, isCut: Bool = false) async throws -> FetchResponse {
        let exchange = URLSessionExchange(maximumBytes: maximumBytes, isCut: isCut)
        return try await exchange.run(message, firstByteSeconds: self.firstByteSeconds, totalSeconds: self.totalSeconds)
    }
}

/// One request and what comes back for it, after redirects.
///
/// URLSession follows the redirects of a request without a body. Of one with a body it makes a GET for 301, 302 and 303, and on
/// Linux it loses the body for 307 and 308, too: there the redirect is refused, and the same request is made anew elsewhere.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class URLSessionExchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let maximumBytes: Int
    /// Whether a longer body is cut off, and no failure.
    private let isCut: Bool
    private let lock = NSLock()
    private var response: HTTPURLResponse?
    private var body: [UInt8] = []
    private var redirects = 0
    private var failure: FetchError?
    /// The request under way, and its task.
    private var current: (message: URLRequest, task: URLSessionDataTask)?
    /// The request to make next: where a redirect leads.
    private var next: URLRequest?
    /// Whether the rest of the body is not wanted: the task was cancelled with what there is.
    private var isEnough = false
    private var ended: CheckedContinuation<FetchResponse, any Error>?

    init(maximumBytes: Int, isCut: Bool) {
        self.maximumBytes = maximumBytes
        self.isCut = isCut
    }

    func run(
        _ message: URLRequest, firstByteSeconds: Double, totalSeconds: Double
    ) async throws -> FetchResponse {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        #if canImport(Darwin)
        configuration.timeoutIntervalForRequest = firstByteSeconds
        configuration.timeoutIntervalForResource = totalSeconds
        #else
        // Foundation's own limits would end a task while it waits for the answer to a redirect: see below.
        configuration.timeoutIntervalForRequest = 86_400
        configuration.timeoutIntervalForResource = 86_400
        #endif
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        // Not every platform enforces the session's own limits, and a server that sends a byte now and then reaches
        // none.
        let firstByte = self.limit(firstByteSeconds) { $0.response == nil }
        let total = self.limit(totalSeconds) { _ in true }
        defer {
            firstByte.cancel()
            total.cancel()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.lock.withLock { self.ended = continuation }
                self.begin(message, in: session)
            }
        } onCancel: {
            self.stop(FetchError(.network, "the request was cancelled"))
        }
    }

    /// Makes a request, unless the exchange has ended.
    private func begin(_ message: URLRequest, in session: URLSession) {
        // Under the lock: a task that is cancelled before it begins would never report its end on Linux.
        let isStopped = self.lock.withLock {
            guard self.failure == nil else { return true }
            (self.response, self.body, self.next) = (nil, [], nil)
            let task = session.dataTask(with: message)
            self.current = (message, task)
            task.resume()
            return false
        }
        if isStopped { self.end(nil) }
    }

    /// Ends a request that takes too long.
    private func limit(
        _ seconds: Double, when applies: @escaping @Sendable (URLSessionExchange) -> Bool
    ) -> Task<Void, Never> {
        Task {
            guard (try? await SystemClock().sleep(seconds: seconds)) != nil else { return }
            self.stop(FetchError(.timeout, "the server did not answer within \(seconds) seconds")) {
                applies(self)
            }
        }
    }

    /// Ends the request for a reason, or because what came is enough; the first end counts.
    private func stop(_ failure: FetchError?, if condition: () -> Bool = { true }) {
        let task: URLSessionDataTask? = self.lock.withLock {
            guard self.failure == nil, !self.isEnough, condition() else { return nil }
            self.failure = failure
            self.isEnough = failure == nil
            return self.current?.task
        }
        task?.cancel()
    }

    /// Ends a request whose answer is longer than what is read of it.
    private func stopReading() {
        self.stop(self.isCut ? nil : FetchError(.tooLarge, "the answer is over \(self.maximumBytes) bytes")) {
            self.next == nil
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // On Linux, Foundation stops the process when it gets this answer for a task that was cancelled. So the answer is
        // given under the lock, before a later cancellation, and never to a cancelled task.
        self.lock.withLock {
            guard self.failure == nil else {
                #if canImport(Darwin)
                completionHandler(nil)
                #endif
                return
            }
            self.redirects += 1
            let isWithinLimit = self.redirects <= FetchRequest.redirects
            if isWithinLimit, let address = request.url?.absoluteString,
                ReportAddress.isAllowed(address, redirectedFrom: response.url?.absoluteString ?? "")
            {
                guard var message = self.current?.message, message.httpBody != nil else {
                    return completionHandler(request)
                }
                message.url = request.url
                message.setValue(nil, forHTTPHeaderField: "Tumbler-Assertion")
                self.next = message
                completionHandler(nil)
            } else {
                // Not cancelled, because a task without a next request ends by itself.
                let reason =
                    isWithinLimit
                    ? "a redirect to this machine, or to an address that is not https" : "too many redirects"
                self.failure = FetchError(.redirect, reason)
                completionHandler(nil)
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.lock.withLock { self.response = response as? HTTPURLResponse }
        if response.expectedContentLength > Int64(self.maximumBytes) { self.stopReading() }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = self.lock.withLock {
            // The answer that redirects is not read.
            guard self.next == nil else { return false }
            guard self.body.count + data.count <= self.maximumBytes else { return true }
            self.body += data
            return false
        }
        if isTooLarge { self.stopReading() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let next = self.lock.withLock({ self.failure == nil ? self.next : nil }) else { return self.end(error) }
        self.begin(next, in: session)
    }

    /// Completes the request with its result, once.
    private func end(_ error: (any Error)?) {
        let (ended, result) = self.lock.withLock {
            defer { (self.ended, self.current) = (nil, nil) }
            return (self.ended, self.result(error))
        }
        ended?.resume(with: result)
    }

    private func result(_ error: (any Error)?) -> Result<FetchResponse, any Error> {
        if let failure = self.failure { return .failure(failure) }
        if let error, !self.isEnough {
            return .failure(
                (error as? URLError)?.code == .timedOut
                    ? FetchError(.timeout, "the server did not answer in time")
                    : FetchError(.network, "the request failed: \(error.localizedDescription)"))
        }
        guard let response = self.response else { return .failure(FetchError(.network, "there was no answer")) }
        let retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap { RetryAfter($0) }
        let fields = ["tumbler-challenge", "tumbler-attestation"].compactMap { name in
            response.value(forHTTPHeaderField: name).map { (name, $0) }
        }
        return .success(
            FetchResponse(
                status: response.statusCode, body: self.body, retryAfter: retryAfter,
                fields: Dictionary(uniqueKeysWithValues: fields)))
    }
}
