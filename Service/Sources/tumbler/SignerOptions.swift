// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import PinListRepository

/// `--key KEY`, as often as there are signers, and their passphrases.
struct SignerOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "Sign with this key: a file, pkcs11:…, or exec:COMMAND. May be given several times.", valueName: "key"))
    var keys: [String] = []

    @OptionGroup var passphrases: PassphraseOptions

    /// The signers, in the order in which they were named.
    ///
    /// - Throws: ``CommandFailure`` for a name that is none.
    func signers() throws(CommandFailure) -> [any MetadataSigner] {
        guard self.passphrases.count <= self.keys.count else {
            throw CommandFailure(
                .usage, "there are more passphrases than keys", hint: "the n-th passphrase belongs to the n-th --key")
        }
        var signers: [any MetadataSigner] = []
        for (index, key) in self.keys.enumerated() {
            let name = try CommandFailure.wrapping { () throws(RepositoryError) in try KeyName(key) }
            signers.append(Self.signer(name, passphrase: self.passphrases.source(at: index)))
        }
        return signers
    }

    /// The signer that a name means.
    static func signer(_ name: KeyName, passphrase: PassphraseSource) -> any MetadataSigner {
        switch name {
        case .file(let path): FileSigner(path, passphrase: passphrase)
        case .token(let uri):
            PKCS11Signer(uri, pin: passphrase, environment: ProcessInfo.processInfo.environment)
        case .command(let command): ExecSigner(command) { StandardError.note($0) }
        }
    }
}
