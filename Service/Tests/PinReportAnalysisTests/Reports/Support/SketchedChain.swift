// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// Certificates that are only their frame: names, a validity, a key of some bytes, and names of hosts. Signatures are
/// not verified here.
enum SketchedChain {
    private static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let bytes = contents.flatMap { $0 }
        if bytes.count < 128 { return [tag, UInt8(bytes.count)] + bytes }
        if bytes.count < 256 { return [tag, 0x81, UInt8(bytes.count)] + bytes }
        return [tag, 0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    private static func attribute(_ type: UInt8, _ text: String) -> [UInt8] {
        self.element(
            0x31, self.element(0x30, self.element(0x06, [0x55, 0x04, type]), self.element(0x0c, Array(text.utf8))))
    }

    /// A Name of an organisation and a common name.
    private static func name(_ organisation: String, _ commonName: String) -> [UInt8] {
        self.element(0x30, self.attribute(0x0a, organisation), self.attribute(0x03, commonName))
    }

    /// One certificate.
    static func certificate(
        subject: (organisation: String, commonName: String), issuer: (organisation: String, commonName: String),
        key: [UInt8], validity: (String, String) = ("261101000000Z", "270201000000Z"), names: [[UInt8]] = []
    ) -> [UInt8] {
        let times = self.element(
            0x30, self.element(0x17, Array(validity.0.utf8)), self.element(0x17, Array(validity.1.utf8)))
        var parts = [
            self.element(0x02, [1]), self.element(0x30), self.name(issuer.organisation, issuer.commonName), times,
            self.name(subject.organisation, subject.commonName),
            self.element(0x30, self.element(0x30), self.element(0x03, [0] + key)),
        ]
        if !names.isEmpty {
            let value = self.element(0x04, self.element(0x30, names.flatMap { $0 }))
            parts.append(
                self.element(
                    0xa3, self.element(0x30, self.element(0x30, self.element(0x06, [0x55, 0x1d, 0x11]), value))))
        }
        return self.element(
            0x30, self.element(0x30, parts.flatMap { $0 }), self.element(0x30), self.element(0x03, [0]))
    }

    /// A dNSName.
    static func dns(_ name: String) -> [UInt8] { self.element(0x82, Array(name.utf8)) }

    /// An iPAddress.
    static func address(_ bytes: [UInt8]) -> [UInt8] { self.element(0x87, bytes) }

    /// A leaf for a host and the certificate of its issuer.
    ///
    /// - Parameters:
    ///   - leafKey: Tells one leaf's key from another's.
    ///   - issuerKey: Likewise for the issuer's.
    ///   - organisation: The issuer's organisation.
    ///   - commonName: The issuer's common name.
    static func chain(
        leafKey: Int = 1, issuerKey: Int = 2, organisation: String = "Let's Encrypt", commonName: String = "R11"
    ) -> [[UInt8]] {
        func key(_ number: Int) -> [UInt8] { Array("key \(number)".utf8) }
        let issuer = (organisation, commonName)
        return [
            self.certificate(
                subject: ("Example", "api.example.com"), issuer: issuer, key: key(leafKey),
                names: [self.dns("api.example.com")]),
            self.certificate(subject: issuer, issuer: ("Root", "Root"), key: key(issuerKey)),
        ]
    }
}
