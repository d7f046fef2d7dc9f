// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import X509

/// A revocation list of the tests' own PKI, made in code so that it can be wrong in any way.
struct TestRevocationList {
    /// One revoked certificate.
    struct Entry {
        var serial: [UInt8]
        var date = TestRevocationList.utcTime("270114000000Z")
        /// The extensions of the entry, each a whole element.
        var extensions: [[UInt8]]?
    }

    /// 2027-01-14, a day before the time of the tests' PKI; and a day after it.
    static let thisUpdate = Self.utcTime("270114000000Z")
    static let nextUpdate = Self.utcTime("270117000000Z")

    /// ecdsaWithSHA256.
    static let algorithm: [UInt8] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]

    var version: [UInt8]? = [0x02, 0x01, 0x01]
    var innerAlgorithm = Self.algorithm
    var outerAlgorithm = Self.algorithm
    /// The issuer's Name; the signer's by default.
    var issuer: [UInt8]?
    var thisUpdate = Self.thisUpdate
    var nextUpdate: [UInt8]? = Self.nextUpdate
    var entries: [Entry] = []
    /// The extensions, each a whole element; without any there is no member.
    var extensions: [[UInt8]] = []
    /// What stands in place of the entries, where it is not what entries are.
    var rawEntries: [UInt8]?

    static func utcTime(_ text: String) -> [UInt8] { self.element(0x17, Array(text.utf8)) }

    static func generalizedTime(_ text: String) -> [UInt8] { self.element(0x18, Array(text.utf8)) }

    /// An element with a length of up to four octets.
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let length = contents.count
        guard length >= 0x80 else { return [tag, UInt8(length)] + contents }
        let octets = (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(octets.count)] + octets + contents
    }

    /// An Extension under `id-ce`.
    static func certificateExtension(_ number: UInt8, critical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        self.element(
            0x30,
            [0x06, 0x03, 0x55, 0x1d, number] + (critical ? [0x01, 0x01, 0xff] : []) + self.element(0x04, value))
    }

    /// The reason of an entry.
    static func reason(_ code: UInt8) -> [UInt8] { self.certificateExtension(21, [0x0a, 0x01, code]) }

    /// An issuingDistributionPoint with these members.
    static func distributionPoint(uri: String? = nil, _ flags: [UInt8] = []) -> [UInt8] {
        let name = uri.map { self.element(0xa0, self.element(0xa0, self.element(0x86, Array($0.utf8)))) } ?? []
        return self.certificateExtension(28, critical: true, self.element(0x30, name + flags))
    }

    /// Entries that differ in three octets alone, which count up from what stands there: 256 at a time, for one by one
    /// a million take a debug build seconds.
    ///
    /// - Parameters:
    ///   - count: The number of entries.
    ///   - entry: The first one.
    ///   - place: Where the three octets are in it; the last two are 0.
    static func entries(_ count: Int, from entry: [UInt8], countingAt place: Int) -> [UInt8] {
        var block: [UInt8] = []
        for last in 0..<256 {
            block += entry
            block[block.count - entry.count + place + 2] = UInt8(last)
        }
        var entries: [UInt8] = []
        entries.reserveCapacity(count * entry.count)
        for number in 0...(count / 256) {
            var next = place
            while next < block.count {
                block[next] = entry[place] + UInt8(number >> 8)
                block[next + 1] = UInt8(number & 255)
                next += entry.count
            }
            entries += block.prefix(min(256, count - 256 * number) * entry.count)
        }
        return entries
    }

    /// The list, signed.
    func signed(by issuer: TestCertificate) throws -> [UInt8] {
        var parts = (self.version ?? []) + self.innerAlgorithm
        parts += try self.issuer ?? Self.subject(of: issuer)
        parts += self.thisUpdate + (self.nextUpdate ?? [])
        if let rawEntries {
            parts += rawEntries
        } else if !self.entries.isEmpty {
            var all: [UInt8] = []
            for entry in self.entries {
                let extensions = entry.extensions.map { Self.element(0x30, Array($0.joined())) } ?? []
                all += Self.element(0x30, Self.element(0x02, entry.serial) + entry.date + extensions)
            }
            parts += Self.element(0x30, all)
        }
        if !self.extensions.isEmpty {
            parts += Self.element(0xa0, Self.element(0x30, Array(self.extensions.joined())))
        }
        let toBeSigned = Self.element(0x30, parts)
        let signature = try issuer.key.sign(bytes: toBeSigned, signatureAlgorithm: .ecdsaWithSHA256)
        return Self.element(
            0x30, toBeSigned + self.outerAlgorithm + Self.element(0x03, [0] + signature.rawRepresentation))
    }

    /// The subject of a certificate as it stands in it.
    static func subject(of certificate: TestCertificate) throws -> [UInt8] {
        DERParts.elements(within: DERParts.elements(within: certificate.der)[0])[TestCertificate.Field.subject.rawValue]
    }
}
#endif
