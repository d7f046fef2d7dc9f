// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// Shows a key's ids.
struct KeyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the id and the pin of a key.",
        discussion: """
            KEY is a private or public key file, or pkcs11:… An encrypted private key is opened when a passphrase is \
            given or there is no FILE.pub beside it; otherwise FILE.pub is shown, and a note says so.
            """
    )

    @Argument(help: "A key.", completion: .file())
    var key: String

    @Option(
        name: .customLong("public"), help: ArgumentHelp("Write the public key to a new file, PEM.", valueName: "file"),
        completion: .file())
    var publicFile: String?

    @Flag(help: "Print JSON: the public key in PEM, too.")
    var json = false

    @OptionGroup var passphrases: PassphraseOptions

    func validate() throws {
        if self.passphrases.count > 1 { throw ValidationError("one key has one passphrase") }
    }

    func run() async throws {
        let bytes = try await CommandError.wrapping { () async throws(RepositoryError) in
            switch try KeyName(self.key) {
            case .file(let path): return try self.subjectPublicKeyInfo(ofFile: path)
            case .token(let uri):
                let environment = ProcessInfo.processInfo.environment
                let signer = PKCS11Signer(uri, pin: self.passphrases.source(at: 0), environment: environment)
                return try await signer.subjectPublicKeyInfo()
            case .command:
                throw RepositoryError(.usage, "\(self.key): a program cannot be asked for its public key")
            }
        }
        let shown = KeyDescription(subjectPublicKeyInfo: bytes)
        if let publicFile {
            try CommandError.wrapping { () throws(RepositoryError) in
                try WrittenFile.write(Array(shown.publicKey.utf8), to: publicFile, .published, existing: .kept)
            }
        }
        try shown.write(asJSON: self.json)
    }

    private func subjectPublicKeyInfo(ofFile path: String) throws(RepositoryError) -> [UInt8] {
        let bytes = try BoundedFile.read(path, maximum: KeyFile.maximumLength)
        let labels = (try? PEMBlock.blocks(in: bytes).map(\.label)) ?? []
        if labels == [PublicKeyForm.label] || bytes.first == 0x30 {
            return try PublicKeyForm.subjectPublicKeyInfo(in: bytes, named: path)
        }
        let beside = KeyFile.publicPath(of: path)
        let hasPublicFile = FileManager.default.fileExists(atPath: beside)
        if hasPublicFile, self.passphrases.count == 0, try KeyFile.isEncrypted(path) {
            StandardError.note("this is \(beside); the private key was not opened")
            let bytes = try BoundedFile.read(beside, maximum: PublicKeyForm.maximumLength)
            return try PublicKeyForm.subjectPublicKeyInfo(in: bytes, named: beside)
        }
        let key = try KeyFile.read(path) { () throws(RepositoryError) in
            try self.passphrases.source(at: 0).passphrase(for: path)
        }
        if hasPublicFile {
            let other = try BoundedFile.read(beside, maximum: PublicKeyForm.maximumLength)
            guard try PublicKeyForm.subjectPublicKeyInfo(in: other, named: beside) == key.subjectPublicKeyInfo else {
                throw RepositoryError(.metadata, "\(beside) is not the public key of \(path)", hint: "remove \(beside)")
            }
        }
        return key.subjectPublicKeyInfo
    }
}

/// The form in which a public key is printed: all that people compare.
struct KeyDescription: Encodable {
    /// The lower-case hex SHA-256 of the DER: what roots and signatures call it.
    let keyid: String
    /// The same in the form of a pin.
    let pin: String
    /// The kind of key, such as `EC P-256`.
    let algorithm: String
    /// Whether lists and roots can be signed with it.
    let signsMetadata: Bool
    /// PEM.
    let publicKey: String

    /// Describes a key.
    init(subjectPublicKeyInfo bytes: [UInt8]) {
        self.keyid = Envelope.digest(of: bytes)
        self.pin = Pin(kind: .publicKey, hashing: bytes).description
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: bytes)
        self.signsMetadata = MetadataKey(subjectPublicKeyInfo: bytes) != nil
        self.publicKey = PEMBlock(label: PublicKeyForm.label, bytes: bytes).text
    }

    /// Prints it.
    func write(asJSON json: Bool) throws {
        if json { return try JSONOutput.write(self) }
        try StandardOutput.write(lines: [
            "keyid \(self.keyid)", "pin \(self.pin)",
            "algorithm \(self.algorithm)\(self.signsMetadata ? ", signs lists and roots" : "")",
        ])
    }
}
