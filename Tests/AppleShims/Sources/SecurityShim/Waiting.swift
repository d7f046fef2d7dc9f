// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation

/// A value that one thread waits for and a task gives.
///
/// `@unchecked Sendable`: because the value is written before the signal, and read after it.
final class Waiting<Value: Sendable>: @unchecked Sendable {
    private let given = DispatchSemaphore(value: 0)
    private var value: Value

    init(_ value: Value) { self.value = value }

    func give(_ value: Value) {
        self.value = value
        self.given.signal()
    }

    func wait() -> Value {
        self.given.wait()
        return self.value
    }
}

/// An executor beside every pool: each job gets a thread of its own, so that threads that wait for a task cannot keep
/// the task from running, however many they are.
final class Bystander: TaskExecutor {
    static let executor = Bystander()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
