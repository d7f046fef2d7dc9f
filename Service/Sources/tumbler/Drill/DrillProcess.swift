// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOConcurrencyHelpers

/// A program that runs beside a drill, in a process group of its own: what is typed at the terminal ends the drill, which
/// ends it. It is given no standard input, and none of the settings of this machine's own service.
///
/// Not by Foundation's `Process`, which crashes on Linux now and then when several end at the same time.
struct DrillProcess: Sendable {
    /// Whether it was reaped: its id may be another process's by now.
    private let isReaped = NIOLockedValueBox(false)
    private let id: pid_t
    /// Lines of its standard output, until it ends.
    private let lines: AsyncStream<String>
    /// The text that it wrote to standard error, when it has ended.
    private let errors: Task<String, Never>
    /// Its exit code, or the negative number of the signal that ended it. Of a task of its own: a drill that is
    /// interrupted waits for it all the same.
    private let end: Task<Int32, Never>

    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: The arguments behind its name.
    /// - Throws: ``CommandError`` when it cannot be started.
    init(_ path: String, _ arguments: [String]) throws(CommandError) {
        guard let output = Channel(), let errors = Channel() else {
            throw CommandError(.undecided, "\(path) cannot be started: no more files can be opened")
        }
        self.id = try Self.start(path, arguments, output.theirs, errors.theirs)
        close(output.theirs)
        close(errors.theirs)
        self.lines = Self.lines(of: output.ours)
        let said = Self.lines(of: errors.ours)
        self.errors = Task { await said.reduce("") { $0.isEmpty ? $1 : "\($0); \($1)" } }
        let (id, isReaped) = (self.id, self.isReaped)
        self.end = Task { await Self.end(of: id, isReaped) }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: The first line of its standard output.
    /// - Throws: ``CommandError`` with what it says when its exit code is not 0, or there is no line.
    static func output(of path: String, _ arguments: [String]) async throws(CommandError) -> String {
        let process = try DrillProcess(path, arguments)
        let line = await process.line(after: "")
        let (code, said) = (await process.end.value, await process.errors.value)
        guard let line, code == 0 else {
            let name = URL(fileURLWithPath: path).lastPathComponent
            throw CommandError(.undecided, "\(name) \(arguments.first ?? "") ended with \(code): \(said)")
        }
        return line
    }

    /// Waits for the line of its standard output that begins with a word.
    ///
    /// - Returns: The text behind the word; `nil` when it ended without such a line.
    func line(after word: String) async -> String? {
        for await line in self.lines where line.hasPrefix(word) { return String(line.dropFirst(word.count)) }
        return nil
    }

    /// Asks it to end (SIGTERM), and waits until it has.
    ///
    /// - Returns: Its output on standard error.
    @discardableResult
    func stop() async -> String {
        self.isReaped.withLockedValue { if !$0 { kill(self.id, SIGTERM) } }
        _ = await self.end.value
        return PrintableText.line(await self.errors.value, maximumLength: 400)
    }

    /// Two ends of a pipe, of which no program that is started is given any unless it is said so.
    private struct Channel {
        let ours: Int32
        let theirs: Int32

        init?() {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (self.ours, self.theirs) = (ends[0], ends[1])
        }
    }

    private static func start(
        _ path: String, _ arguments: [String], _ output: Int32, _ errors: Int32
    ) throws(CommandError) -> pid_t {
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
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        // The environment of this machine's own service would override the file of the drill's.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TUMBLER_") }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, path, &actions, &attributes, &words, &settings)
        guard status == 0 else {
            throw CommandError(.undecided, "\(path) cannot be started: \(String(cString: strerror(status)))")
        }
        return id
    }

    /// Waits for the end of a process, on a thread of its own: waiting blocks.
    private static func end(of id: pid_t, _ isReaped: NIOLockedValueBox<Bool>) async -> Int32 {
        await withCheckedContinuation { ended in
            Thread.detachNewThread {
                var information = siginfo_t()
                // Seen, and not yet reaped: until then its id is no other process's.
                while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                var status: Int32 = 0
                isReaped.withLockedValue { isReaped in
                    while waitpid(id, &status, 0) < 0, errno == EINTR {}
                    isReaped = true
                }
                let signal = status & 0x7F
                ended.resume(returning: signal == 0 ? (status >> 8) & 0xFF : -signal)
            }
        }
    }

    /// Reads on a thread of its own, to the end: reading blocks, and a pipe that is not emptied blocks its writer.
    private static func lines(of descriptor: Int32) -> AsyncStream<String> {
        AsyncStream { lines in
            Thread.detachNewThread {
                var held: [UInt8] = []
                var part = [UInt8](repeating: 0, count: 4_096)
                while case let count = read(descriptor, &part, part.count), count > 0 {
                    held += part[..<count]
                    while let end = held.firstIndex(of: UInt8(ascii: "\n")) {
                        lines.yield(String(decoding: held[..<end], as: UTF8.self))
                        held.removeFirst(end + 1)
                    }
                }
                close(descriptor)
                lines.finish()
            }
        }
    }
}
