// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An answer that is waited for; the first one counts.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class Pending<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var result: Result<Value, any Error>?
    private var waiting: [CheckedContinuation<Value, any Error>] = []

    /// Gives the answer; says whether it was the first.
    @discardableResult
    func finish(_ result: Result<Value, any Error>) -> Bool {
        let waiting: [CheckedContinuation<Value, any Error>]? = self.lock.withLock {
            guard self.result == nil else { return nil }
            self.result = result
            defer { self.waiting = [] }
            return self.waiting
        }
        for continuation in waiting ?? [] { continuation.resume(with: result) }
        return waiting != nil
    }

    /// Waits for the answer.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let known = self.lock.withLock {
                if self.result == nil { self.waiting.append(continuation) }
                return self.result
            }
            if let known { continuation.resume(with: known) }
        }
    }
}

/// A door that is closed at first.
final class Gate: Sendable {
    private let opened = Pending<Void>()
    private let arrived = Pending<Void>()

    func open() { self.opened.finish(.success(())) }

    func pass() async {
        self.arrived.finish(.success(()))
        try? await self.opened.value()
    }

    func arrival() async { try? await self.arrived.value() }
}

/// Where a number of tasks wait for each other.
actor Rendezvous {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func meet(_ count: Int) async {
        guard self.waiting.count + 1 < count else {
            for continuation in self.waiting { continuation.resume() }
            self.waiting = []
            return
        }
        await withCheckedContinuation { self.waiting.append($0) }
    }
}

/// Something that is not `Sendable`, on its way from one side to the other.
///
/// `@unchecked Sendable`: because only one side uses it at a time.
struct Carried<Value>: @unchecked Sendable {
    let value: Value
}
