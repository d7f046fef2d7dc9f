// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Signs metadata with openssl and Foundation alone, so that nothing here is checked against itself: an Ed25519 key,
/// DSSE's PAE, and JSON by `JSONSerialization`.
struct OpenSSLSigner {
    /// The lower-case hex SHA-256 of the key's DER.
    let keyID: String
    /// The key's DER in base64.
    let publicKey: String

    private let openssl: OpenSSL
    private let folder: URL

    /// Makes a key, `signer.pem`.
    init(_ openssl: OpenSSL, in folder: URL) async throws {
        self.openssl = openssl
        self.folder = folder
        try await openssl.run("genpkey -algorithm ED25519 -out signer.pem", in: folder)
        try await openssl.run("pkey -in signer.pem -pubout -outform DER -out signer.der", in: folder)
        self.keyID = String(try await openssl.shell(#""$0" dgst -sha256 -r signer.der"#, in: folder).prefix(64))
        self.publicKey = try folder.contents(of: "signer.der").base64EncodedString()
    }

    /// An envelope over a payload.
    func envelope(_ kind: String, _ payload: Data) async throws -> Data {
        let type = "application/vnd.tumbler.\(kind)+json"
        let pae = Data("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
        try self.folder.write(pae, as: "pae.bin")
        try await self.openssl.run("pkeyutl -sign -rawin -inkey signer.pem -in pae.bin -out pae.sig", in: self.folder)
        let signature = try self.folder.contents(of: "pae.sig").base64EncodedString()
        return try JSONSerialization.data(withJSONObject: [
            "payloadType": type, "payload": payload.base64EncodedString(),
            "signatures": [["keyid": self.keyID, "sig": signature]],
        ])
    }

    /// A root with the one key for both roles; the first one, where no other is asked for.
    func root(version: Int = 1) async throws -> Data {
        let role: [String: Any] = ["keyids": [self.keyID], "threshold": 1]
        let payload = try JSONSerialization.data(withJSONObject: [
            "type": "root", "specVersion": "1.0", "name": "com.example.app", "version": version,
            "issuedAt": "2026-11-01T00:00:00Z", "expiresAt": "2029-11-20T00:00:00Z",
            "keys": [self.keyID: ["algorithm": "ed25519", "publicKey": self.publicKey]],
            "roles": ["root": role, "pins": role],
        ])
        return try await self.envelope("root", payload)
    }
}
