// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A process that a test started, by `posix_spawn`.
///
/// Foundation's `Process` crashes on Linux now and then, when several are started and end at the same time.
///
/// `@unchecked Sendable`: because its one variable is read and written under the lock only.
final class ChildProcess: @unchecked Sendable {
    /// What the system said when it could not start a process.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    private let id: pid_t
    private let lock = NSLock()
    private var isReaped = false

    /// Starts a process with these standard descriptors and no signal blocked or ignored.
    init(_ executable: URL, _ arguments: [String], in folder: URL, input: Int32, output: Int32, errors: Int32) throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }

        // All three are above 2 (0 to 2 belong to the test runner), so that none is overwritten before it is copied.
        for (theirs, ours) in [(0, input), (1, output), (2, errors)] {
            posix_spawn_file_actions_adddup2(&actions, ours, Int32(theirs))
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        // The shell changes the folder, then becomes the process: not every system's posix_spawn can.
        let shell = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, folder.path, executable.path]
        var words = (shell + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, shell[0], &actions, &attributes, &words, environ)
        guard status == 0 else {
            throw NotStarted(description: "\(executable.path): \(String(cString: strerror(status)))")
        }
        self.id = id
    }

    /// Waits for its end, on a thread of its own.
    ///
    /// - Returns: The exit code, or the negative number of the signal that ended it, and the nanoseconds of the
    ///   monotonic clock at its end: a waiting task may go on later.
    func end() async -> (status: Int32, nanoseconds: UInt64) {
        await withCheckedContinuation { ended in
            Thread.detachNewThread {
                var information = siginfo_t()
                // Seen, and not yet reaped: until then no other process has its id.
                while waitid(P_PID, id_t(self.id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                let nanoseconds = DispatchTime.now().uptimeNanoseconds
                var status: Int32 = 0
                self.lock.withLock {
                    while waitpid(self.id, &status, 0) < 0, errno == EINTR {}
                    self.isReaped = true
                }
                let signal = status & 0x7F
                ended.resume(returning: (signal == 0 ? (status >> 8) & 0xFF : -signal, nanoseconds))
            }
        }
    }

    /// Sends it a signal, unless it has ended.
    func send(_ signal: Int32) {
        self.lock.withLock { if !self.isReaped { kill(self.id, signal) } }
    }

    /// Ends it when it takes too long, unless that is cancelled before.
    func endLater(seconds: Double) -> DispatchWorkItem {
        let item = DispatchWorkItem { self.send(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: item)
        return item
    }
}
