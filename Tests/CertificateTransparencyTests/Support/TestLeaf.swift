// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@_spi(Tools) @testable import CertificateTransparency

/// A certificate written by hand. Nothing here looks at its signature, so it has none that holds.
struct TestLeaf {
    /// The object identifier of the timestamps.
    static let timestampsOID: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02]

    /// An issuer: any certificate with a key.
    static let issuer = TestLeaf(key: 7).der

    var notBefore = Array("260101000000Z".utf8)
    var notAfter = Array("260331235959Z".utf8)
    var timeTag: UInt8 = 0x17
    /// The extensions before and after the timestamps, in DER.
    var before: [[UInt8]] = [Self.wrapped([0x55, 0x1d, 0x13], [0x30, 0x00])]
    var after: [[UInt8]] = [Self.wrapped([0x55, 0x1d, 0x0e], [0x04, 0x01, 0x2a])]
    /// The value of the extension with the timestamps; `nil` for a certificate without it.
    var timestamps: [UInt8]?
    var key: UInt8 = 1

    /// The certificate in DER.
    var der: [UInt8] {
        let all =
            self.before + (self.timestamps.map { [Self.wrapped(Self.timestampsOID, $0)] } ?? []) + self.after
        return Self.certificate(self.toBeSigned(extensions: all))
    }

    /// The TBSCertificate with these extensions; without any, `[3]` is not there.
    func toBeSigned(extensions: [[UInt8]]) -> [UInt8] {
        let algorithm = Self.element(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70])
        let name = Self.element(0x30, [])
        let validity = Self.element(
            0x30, Self.element(self.timeTag, self.notBefore) + Self.element(self.timeTag, self.notAfter))
        let key = Self.element(
            0x30, algorithm + Self.element(0x03, [0] + [UInt8](repeating: self.key, count: 32)))
        let inner = extensions.isEmpty ? [] : Self.element(0xa3, Self.element(0x30, Array(extensions.joined())))
        return Self.element(
            0x30,
            Self.element(0xa0, [0x02, 0x01, 0x02]) + Self.element(0x02, [1]) + algorithm + name + validity + name + key
                + inner)
    }

    /// What the logs sign.
    var entry: [UInt8] {
        let toBeSigned = self.toBeSigned(extensions: self.before + self.after)
        let issuer = (try? Pin(publicKeyOf: Self.issuer))?.digest ?? []
        return [0, 1] + issuer + bigEndian(UInt64(toBeSigned.count), 3) + toBeSigned
    }

    /// The certificate with timestamps of these logs at these times, in milliseconds.
    func logged(_ timestamps: [(log: TestLog, milliseconds: UInt64)]) throws -> [UInt8] {
        var leaf = self
        let made = try timestamps.map { try $0.log.timestamp(over: self.entry, milliseconds: $0.milliseconds) }
        leaf.timestamps = Self.element(0x04, timestampList(made))
        return leaf.der
    }

    static func certificate(_ toBeSigned: [UInt8]) -> [UInt8] {
        let algorithm = Self.element(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70])
        return Self.element(0x30, toBeSigned + algorithm + Self.element(0x03, [0] + [UInt8](repeating: 0, count: 64)))
    }

    /// An extension.
    static func wrapped(_ identifier: [UInt8], _ value: [UInt8]) -> [UInt8] {
        Self.element(0x30, Self.element(0x06, identifier) + Self.element(0x04, value))
    }

    /// A tag, a length in its shortest form, and the contents.
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = UInt64(contents.count)
        let length: [UInt8] =
            count < 0x80
            ? bigEndian(count, 1)
            : count < 0x100
                ? [0x81] + bigEndian(count, 1)
                : count < 0x10000 ? [0x82] + bigEndian(count, 2) : [0x83] + bigEndian(count, 3)
        return [tag] + length + contents
    }
}
