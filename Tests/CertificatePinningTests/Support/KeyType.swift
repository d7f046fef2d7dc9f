// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// How `openssl` makes a key of some type, and a certificate for it.
///
/// Made anew at each run: nothing expires, and no file in the repository must be trusted.
struct KeyType: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// Whether an openssl that cannot make such a key is a reason to skip, not to fail: distributions leave some out.
    let isOptional: Bool

    /// The commands that leave a private key in `key.pem`.
    private let keyCommands: [[String]]

    private init(_ name: String, isOptional: Bool = false, _ keyCommands: String...) {
        self.testDescription = name
        self.isOptional = isOptional
        self.keyCommands = keyCommands.map { $0.split(separator: " ").map(String.init) }
    }

    /// A key that one `openssl genpkey` makes.
    private static func generated(_ name: String, isOptional: Bool = false, _ options: String) -> KeyType {
        KeyType(name, isOptional: isOptional, "genpkey -out key.pem -algorithm \(options)")
    }

    /// A P-256 key, written once more in another way.
    private static func rewritten(_ name: String, _ options: String) -> KeyType {
        KeyType(
            name, "genpkey -out named.pem -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
            "ec -in named.pem -out key.pem \(options)")
    }

    /// Keys that can sign their own certificate.
    static let signing: [KeyType] = [
        .generated("RSA 1024", "RSA -pkeyopt rsa_keygen_bits:1024"),
        .generated("RSA 2048", "RSA -pkeyopt rsa_keygen_bits:2048"),
        .generated("RSA 2048, exponent 3", "RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3"),
        .generated("RSA 3072", "RSA -pkeyopt rsa_keygen_bits:3072"),
        .generated("RSA 4096", "RSA -pkeyopt rsa_keygen_bits:4096"),
        .generated("RSA-PSS", isOptional: true, "RSA-PSS -pkeyopt rsa_keygen_bits:2048"),
        .generated(
            "RSA-PSS with parameters", isOptional: true,
            "RSA-PSS -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:sha256 "
                + "-pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:32"),
        .generated("P-256", "EC -pkeyopt ec_paramgen_curve:P-256"),
        .generated("P-384", "EC -pkeyopt ec_paramgen_curve:P-384"),
        .generated("P-521", "EC -pkeyopt ec_paramgen_curve:P-521"),
        .generated("secp256k1", isOptional: true, "EC -pkeyopt ec_paramgen_curve:secp256k1"),
        .generated("brainpoolP256r1", isOptional: true, "EC -pkeyopt ec_paramgen_curve:brainpoolP256r1"),
        .generated("sect571r1, a binary field", isOptional: true, "EC -pkeyopt ec_paramgen_curve:sect571r1"),
        .generated("SM2", isOptional: true, "SM2"),
        .rewritten("P-256, explicit parameters", "-param_enc explicit"),
        .rewritten("P-256, compressed point", "-conv_form compressed"),
        .rewritten("P-256, hybrid point", "-conv_form hybrid"),
        .rewritten("P-256, explicit parameters, compressed point", "-param_enc explicit -conv_form compressed"),
        .generated("Ed25519", "ED25519"),
        .generated("Ed448", isOptional: true, "ED448"),
        KeyType("DSA 1024", isOptional: true, "dsaparam -out dsa.pem 1024", "genpkey -paramfile dsa.pem -out key.pem"),
        .generated("ML-DSA-44", isOptional: true, "ML-DSA-44"),
        .generated("ML-DSA-87", isOptional: true, "ML-DSA-87"),
        .generated("SLH-DSA-SHA2-128s", isOptional: true, "SLH-DSA-SHA2-128s"),
    ]

    /// Keys that agree on secrets and sign nothing: another key signs their certificate.
    static let agreeing: [KeyType] = [
        .generated("X25519", isOptional: true, "X25519"),
        .generated("X448", isOptional: true, "X448"),
    ]

    /// Makes the key in a folder, as `key.pem`; cancels the test where this openssl leaves the type out.
    func makeKey(with openssl: OpenSSL, in folder: URL) async throws {
        do {
            for command in self.keyCommands { try await openssl.run(command, in: folder) }
        } catch let failure as OpenSSL.Failure where self.isOptional {
            try Test.cancel("openssl here makes no \(self.testDescription) key: \(failure)")
        }
    }

    /// Makes a certificate in DER that the key itself has signed.
    func selfSignedCertificate(with openssl: OpenSSL, in folder: URL) async throws -> URL {
        try await self.makeKey(with: openssl, in: folder)
        let request = "req -new -x509 -key key.pem -subj /CN=api.example.com -days 30 -outform DER -out certificate.der"
        try await openssl.run(request.split(separator: " ").map(String.init), in: folder)
        return folder.appendingPathComponent("certificate.der")
    }
}
