// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Standard output: results, and nothing else.
package enum StandardOutput {
    /// Takes results in place of standard output, for commands that a drill runs.
    @TaskLocal package static var taker: (@Sendable (Data) -> Void)?

    /// Writes a result whole.
    ///
    /// - Throws: ``CommandError`` when it cannot be written: a full disk, or a reader that went away.
    package static func write(_ result: Data) throws(CommandError) {
        if let taker { return taker(result) }
        do {
            try FileHandle.standardOutput.write(contentsOf: result)
        } catch {
            self.endWithoutReader()
            throw CommandError(.undecided, "the result cannot be written to standard output")
        }
    }

    /// Whether a pipe without a reader ends this program silently, as it ends others (SIGPIPE). SwiftNIO switches that
    /// off for the whole process, so it is looked up when the program starts.
    package static let endsWithoutReader: Bool = {
        let before = signal(SIGPIPE, SIG_DFL)
        signal(SIGPIPE, before)
        return before == nil
    }()

    private static func endWithoutReader() {
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        guard self.endsWithoutReader, poll(&output, 1, 0) == 1, output.revents & Int16(POLLERR | POLLHUP) != 0
        else { return }
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
    }

    /// Writes lines of text.
    ///
    /// - Throws: ``CommandError`` when they cannot be written.
    package static func write(lines: [String]) throws(CommandError) {
        try self.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}

/// JSON on standard output: members sorted, so that the same result is the same bytes.
package enum JSONOutput {
    /// One value as one line, without the line break.
    package static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Writes one value as one line.
    package static func write(_ value: some Encodable) throws {
        try StandardOutput.write(try self.line(value) + Data("\n".utf8))
    }
}
