// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// A public key that is named on the command line: a file with a public key, a private key whose `.pub` stands beside
/// it, or a token.
enum PublicKeyArgument {
    /// The key of metadata that a name means.
    ///
    /// - Throws: ``CommandError`` when there is none, or it does not sign metadata.
    static func metadataKey(_ text: String) async throws(CommandError) -> MetadataKey {
        let name = try CommandError.wrapping { () throws(RepositoryError) in try KeyName(text) }
        return try await CommandError.wrapping { () async throws(RepositoryError) in
            switch name {
            case .file(let path):
                let bytes = try BoundedFile.read(path, maximum: PublicKeyForm.maximumLength)
                return try PublicKeyForm.metadataKey(in: bytes, named: path)
            case .token(let uri):
                let signer = PKCS11Signer(uri, pin: .terminal, environment: ProcessInfo.processInfo.environment)
                let block = PEMBlock(label: PublicKeyForm.label, bytes: try await signer.subjectPublicKeyInfo())
                return try PublicKeyForm.metadataKey(in: Array(block.text.utf8), named: text)
            case .command:
                throw RepositoryError(
                    .usage, "\(text): a program cannot be asked for its public key", hint: "name a file that has it")
            }
        }
    }
}
