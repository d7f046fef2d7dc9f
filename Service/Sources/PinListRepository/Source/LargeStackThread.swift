// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs what recurses as deep as its input says on a stack that is large enough for the deepest.
///
/// The parser goes down a thousand levels before it refuses, and other threads have stacks of half a mebibyte.
enum LargeStackThread {
    /// The size of the stack, in bytes: 16 KiB for each of the thousand levels.
    private static let size = 16 << 20

    /// Runs a body and waits for it.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let outcome = Outcome<Value, Failure>()
        let thread = Thread {
            do throws(Failure) { outcome.finish(.success(try body())) } catch { outcome.finish(.failure(error)) }
        }
        thread.stackSize = self.size
        thread.start()
        return try outcome.wait().get()
    }
}

/// The result: written by one thread, then read by another.
///
/// `@unchecked Sendable`: because the semaphore orders the one write before the one read, and the reader takes it out.
private final class Outcome<Value: Sendable, Failure: Error>: @unchecked Sendable {
    private var result: Result<Value, Failure>?
    private let isDone = DispatchSemaphore(value: 0)

    func finish(_ result: Result<Value, Failure>) {
        self.result = result
        self.isDone.signal()
    }

    func wait() -> Result<Value, Failure> {
        while true {
            self.isDone.wait()
            // Taken out: the thread may live on for a moment, and should hold nothing.
            guard let result else { continue }
            self.result = nil
            return result
        }
    }
}
