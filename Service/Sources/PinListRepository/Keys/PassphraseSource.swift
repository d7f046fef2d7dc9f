// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The source of a passphrase. It is asked for only when it is needed.
public enum PassphraseSource: Hashable, Sendable {
    /// It is typed at the terminal.
    case terminal
    /// The first line of a file.
    case file(String)
    /// An environment variable.
    case environment(String)

    /// The number of times that a new passphrase is asked for on a terminal.
    private static let attempts = 3

    /// Gets the passphrase of something that exists.
    ///
    /// - Parameter what: The key or token that it opens, for the question.
    /// - Throws: ``RepositoryError`` when there is none.
    public func passphrase(for what: String) throws(RepositoryError) -> Passphrase {
        switch self {
        case .terminal:
            try Terminal.withOpen("Passphrase of \(what)") { (terminal) throws(RepositoryError) in
                try terminal.askSecretly("Passphrase of \(what): ")
            }
        case .file(let path): try Passphrase(firstLineOf: path)
        case .environment(let name): try Passphrase(environmentVariable: name)
        }
    }

    /// Gets the passphrase of something that is being made: on a terminal it is asked for twice.
    ///
    /// - Parameter what: What it will open, for the question.
    /// - Throws: ``RepositoryError`` when there is none, or the two differ three times.
    public func newPassphrase(for what: String) throws(RepositoryError) -> Passphrase {
        guard case .terminal = self else { return try self.passphrase(for: what) }
        return try Terminal.withOpen("A passphrase for \(what)") { (terminal) throws(RepositoryError) in
            for attempt in 1...Self.attempts {
                let first = try terminal.askSecretly("New passphrase of \(what): ")
                let second = try terminal.askSecretly("The same again: ")
                if first.bytes == second.bytes { return first }
                if attempt < Self.attempts { terminal.say("The two differ. Once more:") }
            }
            throw RepositoryError(.usage, "the two passphrases differ, so no key was made")
        }
    }
}
