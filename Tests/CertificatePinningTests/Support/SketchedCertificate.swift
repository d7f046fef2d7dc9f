// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// A certificate drawn by hand: the frame of RFC 5280, section 4.1, around a key and a signature that are only bytes.
///
/// Pins do not look at signatures, so a test can have any key, any name and any damage in microseconds. What its pin must
/// be is known from how it was made, not from the code under test.
struct SketchedCertificate: Sendable {
    /// Where the elements lie that a walk has to step through.
    enum Place {
        static let toBeSigned = [0]
        static let version = [0, 0]
        static let serialNumber = [0, 1]
        static let innerAlgorithm = [0, 2]
        static let issuer = [0, 3]
        static let validity = [0, 4]
        static let subject = [0, 5]
        static let key = [0, 6]
        static let keyAlgorithm = [0, 6, 0]
        static let keyBits = [0, 6, 1]
        static let extensions = [0, 7]
        static let outerAlgorithm = [1]
        static let signature = [2]

        /// All of them, the certificate itself first.
        static let all = [
            [], toBeSigned, version, serialNumber, innerAlgorithm, issuer, validity, subject, key, keyAlgorithm,
            keyBits, extensions, outerAlgorithm, signature,
        ]
    }

    /// The certificate as a tree; a test may damage it.
    var tree: DERNode

    /// A certificate of version 3 with one extension.
    ///
    /// - Parameters:
    ///   - subject: The subject's common name, also written as the organisation that issued it.
    ///   - key: The bytes of the subjectPublicKey, of an unknown algorithm.
    init(subject: String, key: [UInt8]) {
        self.init(subject: Self.name(commonName: DERNode(0x0c, Array(subject.utf8))), key: key)
    }

    /// A certificate with any subject.
    init(subject: DERNode, key: [UInt8]) {
        // 1.3.9999.1 and .2: in no registry.
        let signatureAlgorithm = DERNode(0x30, DERNode(0x06, [0x2b, 0xce, 0x0f, 0x01]))
        let keyAlgorithm = DERNode(0x30, DERNode(0x06, [0x2b, 0xce, 0x0f, 0x02]))
        let validity = DERNode(
            0x30, DERNode(0x17, Array("260101000000Z".utf8)), DERNode(0x17, Array("360101000000Z".utf8)))
        let basicConstraints = DERNode(0x30, DERNode(0x06, [0x55, 0x1d, 0x13]), DERNode(0x04, [0x30, 0x00]))
        self.tree = DERNode(
            0x30,
            DERNode(
                0x30,
                DERNode(0xa0, DERNode(0x02, [2])), DERNode(0x02, [1]), signatureAlgorithm,
                Self.name(commonName: DERNode(0x0c, Array("Sketched CA".utf8))), validity, subject,
                DERNode(0x30, keyAlgorithm, DERNode(0x03, [0] + key)),
                DERNode(0xa3, DERNode(0x30, basicConstraints))
            ),
            signatureAlgorithm, DERNode(0x03, [0, 1, 2, 3])
        )
    }

    /// Certificates with the frame that nearly all have: keys of P-256, P-384 and RSA with 2,048 bits as an
    /// AlgorithmIdentifier and bytes, and extensions that are long enough.
    static let common = [
        Self(
            keyAlgorithm: [
                0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03,
                0x01,
                0x07,
            ], keyLength: 65),
        Self(
            keyAlgorithm: [
                0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22,
            ], keyLength: 97),
        Self(
            keyAlgorithm: [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00], keyLength: 270
        ),
    ]

    private init(keyAlgorithm: [UInt8], keyLength: Int) {
        self.init(subject: "api.example.com", key: [UInt8](repeating: 7, count: keyLength))
        self.tree[Place.keyAlgorithm].contents = .bytes(keyAlgorithm)
        self.tree[Place.extensions].contents = .bytes([UInt8](repeating: 0, count: 200))
    }

    /// A Name of one common name, whose value is written with any string type.
    static func name(commonName value: DERNode) -> DERNode {
        DERNode(0x30, DERNode(0x31, DERNode(0x30, DERNode(0x06, [0x55, 0x04, 0x03]), value)))
    }

    /// The certificate's bytes.
    var der: [UInt8] { self.tree.encoded }

    /// The pin of the key, from the bytes it was drawn with.
    var pin: Pin { Pin(kind: .publicKey, hashing: self.tree[Place.key].encoded) }

    /// The pin of the whole certificate.
    var certificatePin: Pin { Pin(kind: .certificate, hashing: self.der) }
}
