// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// `--key KEY`, as often as there are signers, and their passphrases.
struct SignerOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "Sign with this key: a file, pkcs11:…, or exec:COMMAND. May be given several times.", valueName: "key"),
        completion: .file())
    var keys: [String] = []

    @OptionGroup var passphrases: PassphraseOptions

    /// The signers, in the order in which they were named: on the command line, else in the project's source.
    ///
    /// - Parameters:
    ///   - kind: The kind of metadata to sign.
    ///   - project: The project in which keys are looked up that the command line does not name.
    /// - Throws: ``CommandError`` for an invalid name, and when no signer is named.
    func signers(
        for kind: MetadataRole, _ project: ProjectOption
    ) throws(CommandError) -> [any MetadataSigner] {
        var keys = self.keys
        var folder: URL?
        if keys.isEmpty {
            guard let input = try? SourceInput(nil, project) else {
                throw CommandError(
                    .usage, "--key is missing: no signer is named", hint: "or signers: in tumbler.yaml")
            }
            keys = kind == .root ? input.source.signers.root : input.source.signers.pins
            folder = input.project.folder
            guard !keys.isEmpty else {
                throw CommandError(
                    .usage, "tumbler.yaml names no signers of \(kind.rawValue)", hint: "--key KEY, or signers: there")
            }
        }
        guard self.passphrases.count <= keys.count else {
            throw CommandError(
                .usage, "there are more passphrases than keys", hint: "the n-th passphrase belongs to the n-th --key")
        }
        var signers: [any MetadataSigner] = []
        for (index, key) in keys.enumerated() {
            var name = try CommandError.wrapping { () throws(RepositoryError) in try KeyName(key) }
            if case .file(let path) = name, let folder, !path.hasPrefix("/") {
                name = .file(folder.appendingPathComponent(path).path)
            }
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
