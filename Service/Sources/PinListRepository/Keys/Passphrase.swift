// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The secret that opens a key file or a token. It has no description, and no error repeats it.
public struct Passphrase: Sendable, CustomStringConvertible {
    /// The maximum number of bytes: more is a file that was named by mistake.
    public static let maximumLength = 1_024

    /// The text as UTF-8, as it was typed.
    public let bytes: [UInt8]

    /// Says nothing.
    public var description: String { "(passphrase)" }

    /// A passphrase of some bytes.
    ///
    /// - Throws: ``RepositoryError`` for none at all, and for one that is too long or has a line break or NUL in it.
    public init(_ bytes: some Sequence<UInt8>) throws(RepositoryError) {
        let bytes = Array(bytes.prefix(Self.maximumLength + 1))
        guard !bytes.isEmpty else { throw RepositoryError(.usage, "the passphrase is empty") }
        guard bytes.count <= Self.maximumLength else {
            throw RepositoryError(.usage, "a passphrase has at most \(Self.maximumLength) bytes")
        }
        guard !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\n") }) else {
            throw RepositoryError(.usage, "a passphrase is one line of text")
        }
        self.bytes = bytes
    }

    /// The first line of a file, without its line break.
    ///
    /// - Throws: ``RepositoryError`` when the file cannot be read, or its first line is empty or too long.
    public init(firstLineOf path: String) throws(RepositoryError) {
        let text = try BoundedFile.read(path, maximum: 64 * 1_024)
        var line = text.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else { throw RepositoryError(.usage, "\(path): its first line, the passphrase, is empty") }
        try self.init(line)
    }

    /// The value of an environment variable.
    ///
    /// - Throws: ``RepositoryError`` when it is not set, or empty.
    public init(environmentVariable name: String) throws(RepositoryError) {
        guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
            throw RepositoryError(.usage, "the environment variable \(name) is not set, or empty")
        }
        try self.init(value.utf8)
    }
}
