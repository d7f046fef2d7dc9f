// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation

/// A call that blocks, and that may never come back, on a thread of its own.
///
/// `@unchecked Sendable`: because its one variable is read and written under the lock only.
final class BlockingCall<Answer: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var waiting: CheckedContinuation<Answer?, Never>?

    private init(_ waiting: CheckedContinuation<Answer?, Never>) { self.waiting = waiting }

    private func end(with answer: Answer?) {
        let waiting = self.lock.withLock {
            defer { self.waiting = nil }
            return self.waiting
        }
        waiting?.resume(returning: answer)
    }

    /// Waits for what a call gives.
    ///
    /// - Returns: `nil` after so many seconds. The call goes on in its thread then, which nothing can end; what it
    ///   gives is dropped.
    static func answer<Value: Sendable>(
        within seconds: Double, _ body: @escaping @Sendable () throws(RepositoryError) -> Value
    ) async -> Answer? where Answer == Result<Value, RepositoryError> {
        await withCheckedContinuation { waiting in
            let call = BlockingCall(waiting)
            Thread.detachNewThread {
                do throws(RepositoryError) {
                    call.end(with: .success(try body()))
                } catch {
                    call.end(with: .failure(error))
                }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { call.end(with: nil) }
        }
    }
}
