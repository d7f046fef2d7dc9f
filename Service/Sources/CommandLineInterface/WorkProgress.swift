// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Progress of a long piece of work, in one line of standard error that is written over and goes away at the end. Work
/// that takes less than two seconds shows nothing, and nothing is shown where standard error is no terminal.
package final class WorkProgress: Sendable {
    /// The time for which nothing is shown, in nanoseconds.
    package static let quietTime: UInt64 = 2_000_000_000

    /// The time between two looks at the work.
    private static let interval = Duration.milliseconds(500)

    /// To the beginning of the line, and without what stands there (ECMA-48, EL).
    private static let clearing = "\r\u{1B}[K"

    private struct State {
        var total: Int?
        var done = 0
        var isShown = false
        var isOver = false
    }

    /// Makes the progress of a command in place of the line on the terminal, for tests of commands. Nothing shows it by
    /// itself, and nothing ends it.
    @TaskLocal package static var maker: (@Sendable (_ what: String, _ total: Int?) -> WorkProgress)?

    private let what: String
    private let begun: UInt64
    private let clock: @Sendable () -> UInt64
    private let show: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Begins.
    ///
    /// - Parameters:
    ///   - what: The work, such as `hosts asked`.
    ///   - total: The number of pieces, where it is known.
    ///   - clock: A clock that only goes forward, in nanoseconds.
    ///   - show: Writes to the terminal.
    package init(
        _ what: String, of total: Int? = nil, clock: @escaping @Sendable () -> UInt64,
        show: @escaping @Sendable (String) -> Void
    ) {
        self.what = what
        self.begun = clock()
        self.clock = clock
        self.show = show
        self.state = Mutex(State(total: total))
    }

    /// Says how many pieces there are, once that is known.
    package func expect(_ total: Int) { self.state.withLock { $0.total = total } }

    /// Counts pieces that are done.
    package func add(_ count: Int) { self.state.withLock { $0.done += count } }

    /// Shows how far the work is, unless it is younger than ``quietTime`` or over.
    package func look() {
        let elapsed = self.clock() - self.begun
        guard elapsed >= Self.quietTime else { return }
        // Within the lock, so that nothing is shown after the end.
        self.state.withLock { state in
            guard !state.isOver else { return }
            state.isShown = true
            self.show("\(Self.clearing)tumbler: \(self.line(state)), \(elapsed / 1_000_000_000) s")
        }
    }

    /// Takes the line away.
    package func end() {
        self.state.withLock { state in
            if state.isShown { self.show(Self.clearing) }
            state.isShown = false
            state.isOver = true
        }
    }

    private func line(_ state: State) -> String {
        if let total = state.total { return "\(self.what): \(state.done) of \(total)" }
        return state.done > 0 ? "\(self.what): \(state.done)" : self.what
    }
}

extension WorkProgress {
    /// Does something while a person may be told how far it is.
    ///
    /// - Parameters:
    ///   - what: The work, such as `hosts asked`.
    ///   - total: The number of pieces, where it is known.
    ///   - writesResults: Whether it writes results as it goes: on a terminal they are the progress.
    ///   - body: The work, with what counts it; `nil` where there is no terminal.
    /// - Throws: What the work throws.
    package static func during<Value: Sendable>(
        _ what: String, of total: Int? = nil, writesResults: Bool = false,
        _ body: (WorkProgress?) async throws -> Value
    ) async rethrows -> Value {
        if let maker { return try await body(maker(what, total)) }
        guard isatty(STDERR_FILENO) == 1, StandardError.taker == nil,
            !writesResults || isatty(STDOUT_FILENO) == 0,
            ProcessInfo.processInfo.environment["TERM"] != "dumb"
        else { return try await body(nil) }
        let progress = WorkProgress(
            what, of: total, clock: { DispatchTime.now().uptimeNanoseconds },
            show: { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) })
        let looking = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                progress.look()
            }
        }
        defer {
            looking.cancel()
            progress.end()
        }
        return try await body(progress)
    }
}
