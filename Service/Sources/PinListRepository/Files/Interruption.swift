// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What has to be put right when a signal ends the process meanwhile: Control-C, `kill`, a terminal that is closed.
///
/// It is put right first, and then the process ends by that signal, as without it. That is done on a thread of its own: in the handler
/// of a signal hardly anything may be called. A signal that is ignored, or that another part of the program takes, stays as it is.
package struct Interruption: Sendable {
    private let id: Int

    /// Begins: from now on a signal calls `putRight` before it ends the process.
    package init(_ putRight: @escaping @Sendable () -> Void) { self.id = Interruptions.shared.begin(putRight) }

    /// Ends: nothing has to be put right any more. Where a signal came before, this does not return, and so what follows is not done
    /// beside what was put right.
    ///
    /// - Parameter puttingRight: Whether it is put right now: that is not done beside a signal, and no signal ends the process within.
    package func end(puttingRight: Bool = false) { Interruptions.shared.end(self.id, puttingRight: puttingRight) }
}

/// `@unchecked Sendable`: because its variables are read and written under the lock only.
private final class Interruptions: @unchecked Sendable {
    static let shared = Interruptions()

    private let lock = NSLock()
    private var begun: [(id: Int, putRight: @Sendable () -> Void)] = []
    private var lastID = 0
    private var isWatched = false

    /// The signals that have our handler at present.
    private var taken: [Int32] = []

    func begin(_ putRight: @escaping @Sendable () -> Void) -> Int {
        self.lock.withLock {
            if self.begun.isEmpty, self.watch() { self.take() }
            self.lastID += 1
            self.begun.append((self.lastID, putRight))
            return self.lastID
        }
    }

    func end(_ id: Int, puttingRight: Bool) {
        self.lock.withLock {
            if puttingRight { self.begun.first { $0.id == id }?.putRight() }
            self.begun.removeAll { $0.id == id }
            guard self.begun.isEmpty else { return }
            for number in self.taken { signal(number, SIG_DFL) }
            self.taken = []
        }
    }

    /// Sets the handler of each signal that would end the process.
    private func take() {
        for number in [SIGHUP, SIGINT, SIGTERM] {
            // Kept whole, with its flags: it may be the handler of another part of the program.
            var before = sigaction()
            sigaction(number, nil, &before)
            if signal(number, passOn) == nil { self.taken.append(number) } else { sigaction(number, &before, nil) }
        }
    }

    /// Starts the thread that waits for a signal, once; whether there is one.
    private func watch() -> Bool {
        if self.isWatched { return true }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = ends[0]
        toWatcher = ends[1]
        self.isWatched = true
        Thread.detachNewThread { self.wait(on: reader) }
        return true
    }

    private func wait(on reader: Int32) {
        var number: UInt8 = 0
        var count = 0
        repeat { count = read(reader, &number, 1) } while count < 0 && errno == EINTR
        guard count == 1 else { return }
        // Never unlocked: what ends from now on waits for the end of the process.
        self.lock.lock()
        for begun in self.begun.reversed() { begun.putRight() }
        signal(Int32(number), SIG_DFL)
        kill(getpid(), Int32(number))
    }
}

/// The end of the pipe to the thread that waits for a signal.
///
/// `nonisolated(unsafe)`: because it is set once, before the first handler is, and only read afterwards.
private nonisolated(unsafe) var toWatcher: Int32 = -1

/// Tells the thread which signal came. When that cannot be told, the process ends by the signal at once.
private func passOn(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    if write(toWatcher, &byte, 1) != 1 {
        signal(number, SIG_DFL)
        raise(number)
    }
    errno = before
}
