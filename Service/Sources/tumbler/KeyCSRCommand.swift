// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListRepository

/// Writes a certificate request for a key.
struct KeyCSRCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr",
        abstract: "Write a certificate request for a key.",
        discussion: """
            For a backup key: its pin goes out with a list first, and the request goes to the authority when it is \
            needed. KEY is a private key file.
            """
    )

    @Argument(help: "A private key file.")
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
        let request = try CommandFailure.wrapping { () throws(RepositoryError) in
            guard case .file(let path) = try KeyName(self.key) else {
                throw RepositoryError(
                    .usage, "\(self.key): requests are made for key files", hint: "openssl req makes one with a token")
            }
            let key = try KeyFile.read(path) { () throws(RepositoryError) in
                try self.passphrases.source(at: 0).passphrase(for: path)
            }
            return try CertificateRequest(for: key, subject: self.subject, names: self.names)
        }
        try self.output.write(Array(request.text.utf8))
    }
}
