// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListRepository

/// A backup key of a server, and the request for its certificate: made while a project is, written with it.
struct BackupKey: Sendable {
    /// The pin of the key.
    let pin: Pin

    /// The host that it is for.
    let host: HostName

    /// The path of the key, from the project's folder.
    let keyName: String

    /// The path of the request, from the project's folder.
    let requestName: String

    private let key: PrivateKey
    private let request: CertificateRequest
    private let passphrase: Passphrase?

    /// Makes a key for a host.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - folder: The project's folder; nothing may be where the files go.
    ///   - isPlain: Whether the key is written without a passphrase; else one is asked for on the terminal.
    /// - Throws: ``RepositoryError``.
    init(for host: HostName, in folder: URL, isPlain: Bool) throws(RepositoryError) {
        let name = "backup-" + host.description.filter { $0 != "[" && $0 != "]" }.replacing(":", with: "-")
        self.host = host
        self.keyName = "keys/\(name).pem"
        self.requestName = "\(name).csr"
        let path = folder.appendingPathComponent(self.keyName).path
        for taken in [path, KeyFile.publicPath(of: path), folder.appendingPathComponent(self.requestName).path] {
            try WrittenFile.expectNothing(at: taken)
        }
        self.passphrase = isPlain ? nil : try PassphraseSource.terminal.newPassphrase(for: self.keyName)
        self.key = try PrivateKey(new: .p256)
        self.pin = Pin(kind: .publicKey, hashing: self.key.subjectPublicKeyInfo)
        self.request = try CertificateRequest(for: self.key, subject: "CN=\(host)", names: [host.description])
    }

    /// Writes the key, its public half and the request.
    ///
    /// - Throws: ``RepositoryError``.
    func write(in folder: URL) throws(RepositoryError) {
        var generator = SystemRandomNumberGenerator()
        try KeyFile.write(
            self.key, to: folder.appendingPathComponent(self.keyName).path, passphrase: self.passphrase,
            using: &generator)
        try WrittenFile.write(
            Array(self.request.text.utf8), to: folder.appendingPathComponent(self.requestName).path, .published,
            existing: .kept)
    }

    /// The instruction for the key.
    var line: String {
        "\(self.keyName) is the backup key of \(self.host), and \(self.requestName) the request for its certificate: "
            + "keep the key where the server's own is not"
    }
}
