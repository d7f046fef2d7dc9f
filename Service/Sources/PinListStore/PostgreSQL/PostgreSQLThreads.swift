// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Threads that make calls that block, each with its own connection, so that no other task waits.
///
/// `@unchecked Sendable`: because its variables are read and written under the condition's lock only.
final class PostgreSQLThreads: @unchecked Sendable {
    private typealias Call = @Sendable (PostgreSQLSession) -> Void

    private let condition = NSCondition()
    private let limit: Int
    private var waiting: [Call] = []
    private var isClosed = false

    /// Starts threads, which connect when they are first needed.
    ///
    /// - Parameters:
    ///   - count: The number of threads.
    ///   - limit: The number of calls that may wait for one of them.
    ///   - reconnection: The reconnection.
    init(count: Int, limit: Int, _ reconnection: PostgreSQLReconnection) {
        self.limit = limit
        for _ in 0..<count {
            let thread = Thread {
                let session = PostgreSQLSession { try reconnection.connect() }
                while let call = self.next() { call(session) }
            }
            thread.name = "PostgreSQL"
            thread.stackSize = PostgreSQLLimits.stackSize
            thread.start()
        }
    }

    /// The number of calls that wait.
    var waitingCount: Int { self.condition.withLock { self.waiting.count } }

    /// Makes a call in one of the threads.
    ///
    /// - Parameter reader: Whom it is made for: strangers find half of the places.
    /// - Throws: What the call throws; ``StoreError`` of code `busy` when too many wait.
    func run<Value: Sendable>(
        for reader: StoreReader = .service, _ body: @escaping @Sendable (PostgreSQLSession) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.run(for: reader, body) { continuation.resume(with: $0) }
        }
    }

    /// Makes a call in one of the threads.
    ///
    /// - Parameter completion: The closure that gets the result, in that thread; in a task, when too many wait. Never within
    ///   this call: what is called again there would fill the stack.
    func run<Value: Sendable>(
        for reader: StoreReader = .service, _ body: @escaping @Sendable (PostgreSQLSession) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let limit = reader == .stranger ? self.limit / PostgreSQLLimits.strangersPart : self.limit
        let isTaken = self.add(upTo: limit) { session in completion(Result { try body(session) }) }
        guard !isTaken else { return }
        Task { completion(.failure(StoreError(.busy, "\(limit) calls wait for the database already"))) }
    }

    /// Lets the threads end, and their connections with them, when nothing waits any more.
    func close() {
        self.condition.withLock {
            self.isClosed = true
            self.condition.broadcast()
        }
    }

    private func add(upTo limit: Int, _ call: @escaping Call) -> Bool {
        self.condition.withLock {
            guard self.waiting.count < limit, !self.isClosed else { return false }
            self.waiting.append(call)
            self.condition.signal()
            return true
        }
    }

    private func next() -> Call? {
        self.condition.withLock {
            while self.waiting.isEmpty, !self.isClosed { self.condition.wait() }
            return self.waiting.isEmpty ? nil : self.waiting.removeFirst()
        }
    }
}
