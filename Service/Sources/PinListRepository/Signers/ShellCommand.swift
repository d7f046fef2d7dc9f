// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A line of shell, run within limits. Running it blocks.
struct ShellCommand: Sendable {
    /// The way in which a run ended.
    enum End: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
        case tookTooLong
        case saidTooMuch
    }

    /// The result of a run.
    struct Outcome: Sendable {
        let end: End
        let output: [UInt8]
        let errors: String
    }

    /// Makes a session of its own; Glibc hides the name from Swift, and its number is the same in all of Linux.
    #if canImport(Darwin)
    private static let newSession = Int32(POSIX_SPAWN_SETSID)
    #else
    private static let newSession: Int32 = 0x80
    #endif

    /// This process's environment, which the program gets as it is.
    private static var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        #if canImport(Darwin)
        _NSGetEnviron().pointee
        #else
        environ
        #endif
    }

    private let command: String
    private let seconds: Double
    private let maximumOutputBytes: Int

    init(_ command: String, maximumSeconds seconds: Double, maximumOutputBytes: Int) {
        self.command = command
        self.seconds = seconds
        self.maximumOutputBytes = maximumOutputBytes
    }

    /// Runs it to its end, or ends it, with every process that it started and that did not leave its group.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be started.
    func run(input: [UInt8]) throws(RepositoryError) -> Outcome {
        // A program that does not read its input must not end us. No other code uses this thread.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        guard var exchange = CommandExchange(input: input) else {
            throw RepositoryError(.signer, "exec:\(self.command) cannot be started: no more files can be opened")
        }
        let id = try self.start(with: exchange.theirs)
        exchange.closeTheirs()
        let nanoseconds = UInt64(exactly: (max(0, self.seconds) * 1e9).rounded()) ?? 0
        let (deadline, _) = DispatchTime.now().uptimeNanoseconds.addingReportingOverflow(nanoseconds)
        var early = exchange.run(until: deadline, maximumOutputBytes: self.maximumOutputBytes)
        if early == nil, !Self.waitForEnd(of: id, until: deadline) { early = .tookTooLong }
        let end = Self.end(of: id, early)
        return Outcome(end: end, output: exchange.output, errors: String(decoding: exchange.errors, as: UTF8.self))
    }

    /// Whether it ends in time, after all of its output was closed.
    private static func waitForEnd(of id: pid_t, until deadline: UInt64) -> Bool {
        repeat {
            var information = siginfo_t()
            // Exited, and not yet reaped: until then its id is not reused.
            if waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | WNOHANG) == 0,
                information.si_signo == SIGCHLD
            {
                return true
            }
            usleep(2_000)
        } while DispatchTime.now().uptimeNanoseconds < deadline
        return false
    }

    /// Ends what is left of the group, then reaps.
    private static func end(of id: pid_t, _ early: End?) -> End {
        kill(-id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return early ?? (signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal))
    }

    private func start(with descriptors: [Int32]) throws(RepositoryError) -> pid_t {
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
        // All other descriptors close by themselves.
        for (theirs, ours) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, ours, Int32(theirs))
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A session of its own: all that it starts can be ended with it, and a question on a terminal fails at once
        // instead of being stopped for ever.
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Self.newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var words: [UnsafeMutablePointer<CChar>?] = ["/bin/sh", "-c", self.command].map { (word: String) in strdup(word)
        }
        words.append(nil)
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, "/bin/sh", &actions, &attributes, &words, Self.environment)
        guard status == 0 else {
            throw RepositoryError(
                .signer, "exec:\(self.command) cannot be started: \(String(cString: strerror(status)))")
        }
        return id
    }
}
