// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A private key in a file.
public struct FileSigner: MetadataSigner {
    /// `file:` and the path.
    public var name: String { "file:\(self.path)" }

    private let path: String
    private let passphrase: PassphraseSource

    /// Names a key file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - passphrase: Where its passphrase comes from, if it has one.
    public init(_ path: String, passphrase: PassphraseSource) {
        self.path = path
        self.passphrase = passphrase
    }

    /// Signs with the key, which is read for each signature and not kept.
    ///
    /// - Throws: ``RepositoryError`` with what to do.
    public func signature(over message: [UInt8]) async throws(RepositoryError) -> [UInt8] {
        let key = try KeyFile.read(self.path) { () throws(RepositoryError) in
            try self.passphrase.passphrase(for: self.path)
        }
        return try key.signature(over: message)
    }
}
