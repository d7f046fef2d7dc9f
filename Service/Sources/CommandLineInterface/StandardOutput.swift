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
        try self.write(foreign: Array(try self.line(value)))
    }

    /// Writes JSON that another program made, and a line break where it ends without one.
    ///
    /// - Parameter json: JSON. A service that was broken into may send more than that: no byte of it commands a terminal.
    package static func write(foreign json: [UInt8]) throws(CommandError) {
        let text = self.withoutControls(json)
        try StandardOutput.write(Data(text.utf8) + (text.utf8.last == UInt8(ascii: "\n") ? Data() : Data("\n".utf8)))
    }

    /// JSON in which every control character (C0, DEL, C1) is escaped, but for the white space between its values: the same
    /// values, and none of what a terminal obeys. What is no UTF-8 is U+FFFD.
    package static func withoutControls(_ json: [UInt8]) -> String {
        let text = String(decoding: json, as: UTF8.self)
        if json.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        var escaped = String.UnicodeScalarView()
        var isInString = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            let isSpace = !isInString && (scalar == "\n" || scalar == "\r" || scalar == "\t")
            if scalar.properties.generalCategory == .control, !isSpace {
                let digits = String(scalar.value, radix: 16)
                escaped.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".unicodeScalars)
            } else {
                escaped.append(scalar)
            }
            if scalar == "\"", !isEscaped { isInString.toggle() }
            isEscaped = isInString && scalar == "\\" && !isEscaped
        }
        return String(escaped)
    }
}
