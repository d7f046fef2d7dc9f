// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Private keys in files: PEM, encrypted unless the user insists.
public enum KeyFile {
    /// The maximum number of bytes that are read: an RSA key of 16,384 bits has 13,000.
    public static let maximumLength = 64 * 1_024

    private static let encryptedLabel = "ENCRYPTED PRIVATE KEY"
    private static let plainLabel = "PRIVATE KEY"
    private static let hint = "openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW writes a readable key"

    /// The file with the public key that stands beside a private one.
    public static func publicPath(of path: String) -> String { "\(path).pub" }

    /// Reads a private key.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - passphrase: Gives the passphrase; asked only for an encrypted key.
    /// - Throws: ``RepositoryError``: no such file, no key, one of a kind that is not used here, a wrong passphrase.
    public static func read(
        _ path: String, passphrase: () throws(RepositoryError) -> Passphrase
    ) throws(RepositoryError) -> PrivateKey {
        try self.key(in: try BoundedFile.read(path, maximum: self.maximumLength), named: path, passphrase: passphrase)
    }

    /// Whether a file holds an encrypted private key; `false` as well when it holds none.
    public static func isEncrypted(_ path: String) throws(RepositoryError) -> Bool {
        let bytes = try BoundedFile.read(path, maximum: self.maximumLength)
        return (try? PEMBlock.blocks(in: bytes).contains { $0.label == self.encryptedLabel }) ?? false
    }

    /// The private key in some PEM.
    static func key(
        in bytes: [UInt8], named name: String, passphrase: () throws(RepositoryError) -> Passphrase
    ) throws(RepositoryError) -> PrivateKey {
        let all: [PEMBlock]
        do { all = try PEMBlock.blocks(in: bytes) } catch {
            // openssl's older way of encrypting is PEM with headers.
            throw RepositoryError(.signer, "\(name): no private key in PEM: \(error)", hint: self.hint)
        }
        // openssl writes the name of the curve in front of an EC PRIVATE KEY.
        let blocks = all.filter { $0.label != "EC PARAMETERS" }
        guard blocks.count == 1, let block = blocks.first else {
            throw RepositoryError(.signer, "\(name): not one private key in PEM but \(blocks.count) blocks")
        }
        do {
            switch block.label {
            case self.plainLabel: return try PrivateKey(pkcs8: block.bytes)
            case "EC PRIVATE KEY": return try PrivateKey(sec1: block.bytes)
            case "RSA PRIVATE KEY": return try PrivateKey(pkcs1: block.bytes)
            case self.encryptedLabel: break
            default:
                throw RepositoryError(.signer, "\(name): \(block.label.lowercased()), not a private key")
            }
        } catch let error as RepositoryError {
            throw error
        } catch {
            throw self.unreadable(name, error)
        }
        return try self.decrypted(block.bytes, named: name, passphrase: passphrase)
    }

    private static func decrypted(
        _ bytes: [UInt8], named name: String, passphrase: () throws(RepositoryError) -> Passphrase
    ) throws(RepositoryError) -> PrivateKey {
        let frame: (KeyEncryption, encrypted: [UInt8])
        // Before the passphrase is asked for: a file that cannot be read needs none.
        do { frame = try KeyEncryption.read(bytes) } catch { throw self.unreadable(name, error) }
        let passphrase = try passphrase()
        guard let plain = try? frame.0.decrypt(frame.encrypted, with: passphrase) else { throw self.notOpened(name) }
        do { return try PrivateKey(pkcs8: plain) } catch let defect as PrivateKey.ParsingError {
            throw self.unreadable(name, defect)
        } catch {
            // One wrong passphrase in 256 leaves padding that holds, and rubbish before it.
            throw self.notOpened(name)
        }
    }

    private static func notOpened(_ name: String) -> RepositoryError {
        RepositoryError(.signer, "\(name): the passphrase does not open it", hint: "or the file is damaged")
    }

    private static func unreadable(_ name: String, _ error: any Error) -> RepositoryError {
        let defect = error as? PrivateKey.ParsingError
        let what = defect.map { ": \($0)" } ?? ""
        return RepositoryError(
            .signer, "\(name): this private key cannot be used\(what)", hint: defect?.hint ?? self.hint)
    }

    /// A private key as PEM.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - passphrase: The passphrase that encrypts it; `nil` leaves the key readable to every reader of the file.
    ///   - generator: The random source of salt and vector.
    /// - Throws: ``RepositoryError`` when the key cannot be written, which is a defect here.
    public static func text(
        of key: PrivateKey, passphrase: Passphrase?, using generator: inout some RandomNumberGenerator
    ) throws(RepositoryError) -> String {
        do {
            guard let passphrase else { return PEMBlock(label: self.plainLabel, bytes: try key.pkcs8).text }
            let encryption = KeyEncryption(using: &generator)
            let encrypted = try encryption.encrypt(try key.pkcs8, with: passphrase)
            return PEMBlock(label: self.encryptedLabel, bytes: try encryption.frame(encrypted)).text
        } catch {
            throw RepositoryError(.signer, "the private key cannot be written: \(error)")
        }
    }

    /// Writes a key and, beside it, its public half. Neither replaces a file.
    ///
    /// - Throws: ``RepositoryError``; then there is no new private key.
    public static func write(
        _ key: PrivateKey, to path: String, passphrase: Passphrase?, using generator: inout some RandomNumberGenerator
    ) throws(RepositoryError) {
        let text = try self.text(of: key, passphrase: passphrase, using: &generator)
        try WrittenFile.expectNothing(at: path)
        // The public key first: so there is never a private key without its public one.
        let block = PEMBlock(label: PublicKeyForm.label, bytes: key.subjectPublicKeyInfo)
        try WrittenFile.write(Array(block.text.utf8), to: self.publicPath(of: path), .published, existing: .kept)
        do {
            try WrittenFile.write(Array(text.utf8), to: path, .secret, existing: .kept)
        } catch {
            WrittenFile.remove(self.publicPath(of: path))
            throw error
        }
    }
}
