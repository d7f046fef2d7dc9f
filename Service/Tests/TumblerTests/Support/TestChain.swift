// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A server's certificates: an anchor, two authorities below it, and the server's own.
struct TestChain: Sendable {
    /// The name that the server's certificate is for.
    static let host = "api.example.com"

    /// The names and addresses that the server's certificate is for.
    static let names = "DNS:api.example.com,DNS:localhost,IP:127.0.0.1,IP:::1"

    private let name: String
    private let folder: URL

    /// Makes a chain in a folder; several may be made there under different names.
    init(
        with openssl: OpenSSL, in folder: URL, name: String = "good", names: String = TestChain.names
    ) async throws {
        self.name = name
        self.folder = folder
        let authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
        let server = ["subjectAltName=\(names)", "extendedKeyUsage=serverAuth", "keyUsage=critical,digitalSignature"]
        try await openssl.makeCertificate(
            "\(name)-root", subject: "/O=Example/CN=\(name) root", extensions: authority, in: folder)
        try await openssl.makeCertificate(
            "\(name)-policy", subject: "/O=Example/CN=\(name) policy", issuedBy: "\(name)-root", extensions: authority,
            in: folder)
        try await openssl.makeCertificate(
            "\(name)-issuing", subject: "/O=Example/CN=\(name) issuing", issuedBy: "\(name)-policy",
            extensions: authority, in: folder)
        try await openssl.makeCertificate(
            "\(name)-leaf", subject: "/CN=\(Self.host)", issuedBy: "\(name)-issuing", extensions: server, in: folder)
        try folder.join(self.presented, into: self.file)
        try folder.join(Array(self.presented.dropFirst()), into: self.issuers)
    }

    /// The certificates that the server presents, leaf first: files of one certificate each.
    var presented: [String] { ["\(self.name)-leaf.pem", "\(self.name)-issuing.pem", "\(self.name)-policy.pem"] }

    /// The anchor's file.
    var root: String { "\(self.name)-root.pem" }

    /// The validated path: what is presented and the anchor.
    var path: [String] { self.presented + [self.root] }

    /// The file with all that is presented.
    var file: String { "\(self.name)-chain.pem" }

    /// The file with all that is presented but the leaf.
    var issuers: String { "\(self.name)-issuers.pem" }

    /// The leaf's private key.
    var key: String { "\(self.name)-leaf.key" }

    /// The `chain` for `evaluate --batch`: the PEM texts of all that is presented.
    func presentedTexts() throws -> [String] { try self.presented.map { try self.folder.text(of: $0) } }

    /// The `roots` for `evaluate --batch`.
    func rootTexts() throws -> [String] { [try self.folder.text(of: self.root)] }
}
