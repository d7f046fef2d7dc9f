// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation

/// The controlling terminal of the process, even where standard input is something else.
struct Terminal: ~Copyable {
    /// The settings of a terminal.
    ///
    /// `@unchecked Sendable`: because they are numbers of C.
    private struct Settings: @unchecked Sendable {
        let values: termios
    }

    private let descriptor: Int32

    /// Opens the terminal for a question.
    ///
    /// - Parameter what: The input that is needed, for the error.
    /// - Throws: ``RepositoryError`` where there is no terminal, and what `body` throws.
    static func withOpen<Answer>(
        _ what: String, _ body: (borrowing Terminal) throws(RepositoryError) -> Answer
    ) throws(RepositoryError) -> Answer {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RepositoryError(
                .usage, "\(what) is needed, and there is no terminal to ask on",
                hint: "--passphrase-file FILE or --passphrase-env NAME, in the order of the keys")
        }
        let terminal = Terminal(descriptor: descriptor)
        defer { close(descriptor) }
        return try body(terminal)
    }

    /// Reads a line that is not shown while it is typed.
    ///
    /// Read key by key, Control-C as well, and shown again when a signal ends the process: a terminal that shows nothing of what is
    /// typed would be left otherwise.
    borrowing func askSecretly(_ question: String) throws(RepositoryError) -> Passphrase {
        var before = termios()
        guard tcgetattr(self.descriptor, &before) == 0 else {
            throw RepositoryError(.usage, "the terminal cannot hide what is typed")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        let (descriptor, shown) = (self.descriptor, Settings(values: before))
        let interruption = Interruption {
            // In the background the settings are those of another program, and setting them would stop this one, not end it.
            guard tcgetpgrp(descriptor) == getpgrp() else { return }
            var values = shown.values
            tcsetattr(descriptor, TCSANOW, &values)
        }
        defer { interruption.end() }
        // Flushing drops what was typed before the question was seen.
        guard tcsetattr(self.descriptor, TCSAFLUSH, &silent) == 0 else {
            throw RepositoryError(.usage, "the terminal cannot hide what is typed")
        }
        defer { tcsetattr(self.descriptor, TCSAFLUSH, &before) }
        // The name of a key may be from a source that others wrote: escape sequences must not reach a terminal.
        self.show(PrintableText.line(question))
        let line = self.line()
        self.show("\n")
        guard let line else { throw RepositoryError(.interrupted, "interrupted") }
        return try Passphrase(line)
    }

    /// Says something to the person who types.
    borrowing func say(_ text: String) { self.show("\(text)\n") }

    private borrowing func show(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(self.descriptor, $0.baseAddress, $0.count) }
    }

    /// The line as it was typed; `nil` when it is interrupted.
    private borrowing func line() -> [UInt8]? {
        var line: [UInt8] = []
        while line.count <= Passphrase.maximumLength {
            var byte: UInt8 = 0
            let count = read(self.descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { break }
            switch byte {
            case 0x0A, 0x0D, 0x04: return line  // Return, Enter, Control-D
            case 0x03, 0x1C: return nil  // Control-C, Control-\
            case 0x15: line = []  // Control-U
            case 0x08, 0x7F:  // Backspace: the last character, whose later bytes all begin with the bits 10
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            default: line.append(byte)
            }
        }
        return line
    }
}
