// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// Certificates that have a key and a frame, and nothing that could be validated: paths are stated here, not built.
enum FramedCertificate {
    /// The pin of a key that is named by a number.
    static func pin(_ key: UInt8) -> Pin { Pin(kind: .publicKey, hashing: self.publicKey(key)) }

    /// A path of certificates with these keys, leaf first.
    static func path(_ keys: UInt8...) -> ValidatedPath {
        ValidatedPath(uncheckedValidatedPath: keys.map(self.certificate))
    }

    private static func publicKey(_ key: UInt8) -> [UInt8] {
        self.sequence(self.sequence([]) + [0x03, 0x02, 0x00, key])
    }

    private static func certificate(_ key: UInt8) -> [UInt8] {
        let serialNumber: [UInt8] = [0x02, 0x01, 0x01]
        let signatureIssuerValiditySubject = [[UInt8]](repeating: self.sequence([]), count: 4).flatMap { $0 }
        let toBeSigned = self.sequence(serialNumber + signatureIssuerValiditySubject + self.publicKey(key))
        return self.sequence(toBeSigned + self.sequence([]) + [0x03, 0x01, 0x00])
    }

    private static func sequence(_ contents: [UInt8]) -> [UInt8] { [0x30, UInt8(contents.count)] + contents }
}
