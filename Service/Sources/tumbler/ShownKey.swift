// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository

/// What is said of a public key: all that anybody compares.
struct ShownKey: Encodable {
    /// The lower-case hex SHA-256 of the DER: what roots and signatures call it.
    let keyid: String
    /// The same in the form of a pin.
    let pin: String
    /// The kind of key, such as `EC P-256`.
    let algorithm: String
    /// Whether lists and roots can be signed with it.
    let signsMetadata: Bool
    /// PEM.
    let publicKey: String

    /// Describes a key.
    init(subjectPublicKeyInfo bytes: [UInt8]) {
        self.keyid = Envelope.digest(of: bytes)
        self.pin = Pin(kind: .publicKey, hashing: bytes).description
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: bytes)
        self.signsMetadata = MetadataKey(subjectPublicKeyInfo: bytes) != nil
        self.publicKey = PEMBlock(label: PublicKeyForm.label, bytes: bytes).text
    }

    /// Prints it.
    func write(asJSON json: Bool) throws {
        if json { return try JSONOutput.write(self) }
        try StandardOutput.write(lines: [
            "keyid \(self.keyid)", "pin \(self.pin)",
            "algorithm \(self.algorithm)\(self.signsMetadata ? ", signs lists and roots" : "")",
        ])
    }
}
