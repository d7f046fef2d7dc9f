// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The name of a key that signs: `file:PATH`, a bare path, `pkcs11:…` or `exec:COMMAND`.
///
/// Source: formats.md, section 8.
public enum KeyName: Hashable, Sendable, CustomStringConvertible {
    /// A private key in a file.
    case file(String)
    /// A key on a token.
    case token(PKCS11URI)
    /// A program that signs.
    case command(String)

    /// Reads a name.
    ///
    /// - Throws: ``RepositoryError`` of the code `usage`.
    public init(_ text: String) throws(RepositoryError) {
        if text.hasPrefix("pkcs11:") {
            self = .token(try PKCS11URI(text))
        } else if text.hasPrefix("exec:") {
            let command = String(text.dropFirst("exec:".count))
            guard command.contains(where: { !$0.isWhitespace }) else {
                throw RepositoryError(.usage, "exec: without a command", hint: "exec:/path/to/program --its-options")
            }
            self = .command(command)
        } else {
            let path = text.hasPrefix("file:") ? String(text.dropFirst("file:".count)) : text
            guard !path.isEmpty else { throw RepositoryError(.usage, "a key without a path") }
            self = .file(path)
        }
    }

    /// The name as it is written; a PIN cannot stand in it.
    public var description: String {
        switch self {
        case .file(let path): "file:\(path)"
        case .token(let uri): uri.description
        case .command(let command): "exec:\(command)"
        }
    }
}
