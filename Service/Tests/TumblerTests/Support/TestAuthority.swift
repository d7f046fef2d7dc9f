// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An authority of openssl that takes certificates back.
struct TestAuthority: Sendable {
    /// One certificate that was taken back.
    struct Revoked {
        /// The serial number as openssl prints it.
        let serial: String
        var reason = "keyCompromise"
    }

    /// The name of its files: `NAME.pem` and `NAME.key`.
    let name: String
    let openssl: OpenSSL
    let folder: URL

    /// Writes a revocation list, in PEM.
    ///
    /// - Parameters:
    ///   - file: Its name in the folder.
    ///   - revoked: What is in it; each since 2026-01-01.
    ///   - days: How long it holds from now on.
    func writeList(_ file: String, _ revoked: [Revoked] = [], days: Int = 30) async throws {
        let database = "\(self.name)-index.txt"
        let configuration = """
            [ca]
            default_ca = one
            [one]
            database = \(database)
            default_md = sha256
            crl_extensions = crl
            [crl]
            authorityKeyIdentifier = keyid
            """
        try self.folder.write(configuration, as: "\(self.name)-ca.cnf")
        let lines = revoked.map { "R\t301231235959Z\t260101000000Z,\($0.reason)\t\($0.serial)\tunknown\t/CN=x\n" }
        try self.folder.write(lines.joined(), as: database)
        try await self.openssl.run(
            [
                "ca", "-config", "\(self.name)-ca.cnf", "-gencrl", "-keyfile", "\(self.name).key", "-cert",
                "\(self.name).pem", "-crldays", "\(days)", "-out", file,
            ], in: self.folder)
    }

    /// The serial number of a certificate as openssl prints it.
    func serial(of file: String) async throws -> String {
        try await self.openssl.run(
            ["x509", "-in", file, "-noout", "-serial", "-out", "\(file).serial"], in: self.folder)
        return try self.folder.text(of: "\(file).serial").split(separator: "=").last.map {
            $0.trimmingCharacters(in: .whitespacesAndNewlines)
        } ?? ""
    }
}
