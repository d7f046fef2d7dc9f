// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A process that runs beside a test: it is written to and read line by line.
struct RunningProcess {
    /// What could not be written to the process.
    struct Gone: Error {}

    private let input: Int32
    private var lines: AsyncStream<String>.Iterator

    fileprivate init(input: Int32, output: Int32) {
        self.input = input
        self.lines = Self.lines(of: output).makeAsyncIterator()
    }

    /// Writes a line to its standard input.
    ///
    /// - Throws: ``Gone`` when nothing reads it.
    func say(_ line: String) throws {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(self.input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Gone() }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends its standard input.
    func endInput() { shutdown(self.input, Int32(SHUT_WR)) }

    /// The next line of its standard output; `nil` at the end.
    mutating func nextLine() async -> String? { await self.lines.next() }

    /// Reads on a thread of its own, to the end: reading blocks, and a full pipe blocks its writer.
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

/// Runs `body` beside a process, which is ended, by its id, afterwards in any case; after an
/// hour in any case: what runs beside it may have to wait for its turn.
func withRunningProcess<Result>(
    _ executable: URL, _ arguments: [String], in folder: URL, _ body: (inout RunningProcess) async throws -> Result
) async throws -> Result {
    let input = try PrivateChannel()
    let output = try PrivateChannel()
    defer { close(input.ours) }
    let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/null"))
    let process = try ChildProcess(
        executable, arguments, in: folder, input: input.theirs, output: output.theirs, errors: errors.fileDescriptor)
    withExtendedLifetime(errors) {}
    async let ended = process.end()
    let limit = process.endLater(seconds: 3_600)
    close(input.theirs)
    close(output.theirs)
    var running = RunningProcess(input: input.ours, output: output.ours)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(&running)) } catch { result = .failure(error) }
    limit.cancel()
    process.send(SIGKILL)
    _ = await ended
    return try result.get()
}

/// Two ends, of which no other child process is given any, not even one that is started at the same moment.
private struct PrivateChannel {
    let ours: Int32
    let theirs: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let result = socketpair(AF_UNIX, kind, 0, &ends)
        try #require(result == 0, "no pair of sockets")
        (self.ours, self.theirs) = (ends[0], ends[1])
    }
}
