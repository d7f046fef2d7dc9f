// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A signer of metadata: a key file, a token, an external program.
///
/// A signer is not asked whose key it has: a signature belongs to the key of the root under which it verifies.
public protocol MetadataSigner: Sendable {
    /// The signer's name as the user gave it, without secrets: `file:keys/pins.pem`.
    var name: String { get }

    /// Signs a message.
    ///
    /// - Parameter message: The bytes to sign (for an envelope, PAE), not their hash.
    /// - Returns: The raw bytes of the key's algorithm (64, and 3,309 of ML-DSA-65), or, for a P-256 key, a DER
    ///   ECDSA-Sig-Value.
    /// - Throws: ``RepositoryError`` with what to do.
    func signature(over message: [UInt8]) async throws -> [UInt8]
}

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
    ///   - passphrase: The source of its passphrase, if it has one.
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
