// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListRepository

/// `key`: the operators' work with keys: those that sign lists and roots, and backup keys of servers.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make keys, show them, and write certificate requests for them.",
        subcommands: [KeyNewCommand.self, KeyShowCommand.self, KeyCSRCommand.self]
    )
}

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

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @Option(
        help: "p256, ed25519, ml-dsa-65, rsa2048, rsa3072 or p384.",
        completion: .list(PrivateKey.Algorithm.allCases.map(\.rawValue)), transform: Self.algorithm)
    var algorithm = PrivateKey.Algorithm.p256

    @Flag(help: "Do not encrypt: the file alone gives the key.")
    var insecurePlaintext = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var passphrases: PassphraseOptions

    private static func algorithm(_ text: String) throws -> PrivateKey.Algorithm {
        guard let algorithm = PrivateKey.Algorithm(rawValue: text) else {
            let known = PrivateKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--algorithm \(text) is not one of \(known)")
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
        let key = try CommandError.wrapping { () throws(RepositoryError) -> PrivateKey in
            // Before a passphrase is typed twice for nothing.
            try WrittenFile.expectNothing(at: self.file)
            try WrittenFile.expectNothing(at: KeyFile.publicPath(of: self.file))
            let passphrase =
                self.insecurePlaintext ? nil : try self.passphrases.source(at: 0).newPassphrase(for: self.file)
            let key = try PrivateKey(new: self.algorithm)
            var generator = SystemRandomNumberGenerator()
            try KeyFile.write(key, to: self.file, passphrase: passphrase, using: &generator)
            return key
        }
        if self.insecurePlaintext { StandardError.note("\(self.file) is not encrypted: every reader has the key") }
        try KeyDescription(subjectPublicKeyInfo: key.subjectPublicKeyInfo).write(asJSON: self.json)
    }
}

/// Writes a certificate request for a key.
struct KeyCSRCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr",
        abstract: "Write a certificate request for a key.",
        discussion: """
            For a backup key: its pin goes out with a list first, and the request goes to the authority when it is \
            needed. KEY is a private key file. A file with a request, a certificate or a public key of another key is \
            never overwritten: tumbler.yaml may take its pin from there.
            """
    )

    @Argument(help: "A private key file.", completion: .file())
    var key: String

    @Option(help: ArgumentHelp("The subject: CN=api.example.com,O=Example.", valueName: "dn"))
    var subject: String

    @Option(
        name: .customLong("dns"),
        help: ArgumentHelp("A name or an IP address. Several times for several.", valueName: "name"))
    var names: [String]

    @OptionGroup var passphrases: PassphraseOptions

    @OptionGroup var output: OutputOption

    func validate() throws {
        if self.passphrases.count > 1 { throw ValidationError("one key has one passphrase") }
        if self.names.isEmpty { throw ValidationError("--dns is missing") }
    }

    func run() async throws {
        try self.output.expectUnsigned()
        let request = try CommandError.wrapping { () throws(RepositoryError) in
            guard case .file(let path) = try KeyName(self.key) else {
                throw RepositoryError(
                    .usage, "\(self.key): requests are made for key files", hint: "openssl req makes one with a token")
            }
            let key = try KeyFile.read(path) { () throws(RepositoryError) in
                try self.passphrases.source(at: 0).passphrase(for: path)
            }
            let request = try CertificateRequest(for: key, subject: self.subject, names: self.names)
            if self.output.path != InputFile.standardInput {
                try CertificateRequest.expectPlace(at: self.output.path, for: key)
            }
            return request
        }
        try self.output.write(Array(request.text.utf8))
    }
}
