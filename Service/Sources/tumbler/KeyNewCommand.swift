// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListRepository

/// Makes a private key.
struct KeyNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a private key, encrypted, and beside it FILE.pub with the public one.",
        discussion: """
            The file is PKCS#8 in PEM, encrypted with AES-256-CBC under a passphrase that 600,000 rounds of PBKDF2 \
            stretch; openssl reads it. Its mode is 0600. A file that is there is never overwritten. p256 and ed25519 \
            sign lists and roots, ml-dsa-65 does beside them (its file holds the seed); rsa2048, rsa3072, p256 and p384 \
            are for backup keys of servers.
            """
    )

    @Argument(help: "The file to make.")
    var file: String

    @Option(help: "p256, ed25519, ml-dsa-65, rsa2048, rsa3072 or p384.", transform: Self.algorithm)
    var algorithm = PrivateKey.Algorithm.p256

    @Flag(help: "Do not encrypt: whoever gets the file has the key.")
    var insecurePlaintext = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var passphrases: PassphraseOptions

    private static func algorithm(_ text: String) throws -> PrivateKey.Algorithm {
        guard let algorithm = PrivateKey.Algorithm(rawValue: text) else {
            let known = PrivateKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--algorithm \(text) is none of \(known)")
        }
        return algorithm
    }

    func validate() throws {
        if self.passphrases.count > 1 { throw ValidationError("one key has one passphrase") }
        if self.insecurePlaintext, self.passphrases.count > 0 {
            throw ValidationError("--insecure-plaintext needs no passphrase")
        }
    }

    func run() async throws {
        let key = try CommandFailure.wrapping { () throws(RepositoryError) -> PrivateKey in
            // Before anybody types a passphrase twice for nothing.
            try WrittenFile.expectNothing(at: self.file)
            try WrittenFile.expectNothing(at: KeyFile.publicPath(of: self.file))
            let passphrase =
                self.insecurePlaintext ? nil : try self.passphrases.source(at: 0).newPassphrase(for: self.file)
            let key = try PrivateKey(new: self.algorithm)
            var generator = SystemRandomNumberGenerator()
            try KeyFile.write(key, to: self.file, passphrase: passphrase, using: &generator)
            return key
        }
        if self.insecurePlaintext { StandardError.note("\(self.file) is not encrypted: whoever reads it has the key") }
        try ShownKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo).write(asJSON: self.json)
    }
}
