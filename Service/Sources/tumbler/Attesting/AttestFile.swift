// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import CommandLineInterface
import Foundation

/// The forms of App Attest's data in files and texts.
enum AttestFile {
    private static let keyLabel = "PUBLIC KEY"

    /// An attestation, an assertion or a receipt: binary or base64.
    ///
    /// - Throws: ``CommandError`` when the file cannot be read.
    static func object(in path: String) throws(CommandError) -> [UInt8] {
        let bytes = try InputFile.read(path)
        // None of the three is made of characters of base64 alone: each begins with a byte above them or soon has one.
        return self.base64(bytes) ?? bytes
    }

    /// The bytes of a text in base64, in which blanks and line breaks may stand; `nil` for another text.
    static func base64(_ text: some Collection<UInt8>) -> [UInt8]? {
        let blanks: [UInt8] = [0x20, 0x09, 0x0d, 0x0a]
        return Base64.decode(text.filter { !blanks.contains($0) })
    }

    /// The first certificate of a file, PEM or DER.
    ///
    /// - Throws: ``CommandError`` when the file cannot be read, or there is none in it.
    static func certificate(in path: String) throws(CommandError) -> [UInt8] {
        guard let first = try ChainFile.certificates(in: try InputFile.read(path), named: path)?.first else {
            throw CommandError(.undecided, "\(path): no certificate in it")
        }
        return first
    }

    /// The certificate of a text: PEM, base64, or the name of a file.
    static func certificate(of text: String) throws(CommandError) -> [UInt8] {
        let bytes = self.base64(text.utf8) ?? Array(text.utf8)
        if let first = try ChainFile.certificates(in: bytes, named: "root")?.first { return first }
        return try self.certificate(in: text)
    }

    /// The key that an argument names: a file, or base64.
    ///
    /// - Throws: ``CommandError`` when the file cannot be read, or there is no key of P-256 in it.
    static func key(_ argument: String) throws(CommandError) -> AttestedKey {
        let isFile = argument == InputFile.standardInput || FileManager.default.fileExists(atPath: argument)
        if isFile {
            let bytes = try InputFile.read(argument)
            if let key = self.key(in: bytes) { return key }
            throw CommandError(.undecided, "\(argument): no public key of P-256 in it")
        }
        if let key = self.key(in: Array(argument.utf8)) { return key }
        throw CommandError(
            .undecided, "\(argument): no such file, and no public key of P-256 in base64",
            hint: "a key is an uncompressed point of 65 bytes, or a SubjectPublicKeyInfo")
    }

    /// The key in some bytes: PEM, or an uncompressed point or a SubjectPublicKeyInfo, binary or base64; `nil` where there is
    /// none.
    static func key(in bytes: [UInt8]) -> AttestedKey? {
        let block = (try? PEMBlock.blocks(in: bytes))?.first { $0.label == self.keyLabel }
        for form in [block?.bytes, bytes, self.base64(bytes)] {
            guard let form else { continue }
            if let key = AttestedKey(x963: form) ?? AttestedKey(subjectPublicKeyInfo: form) { return key }
        }
        return nil
    }
}
