// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Revoked certificates of one issuer, refused by their serial numbers because the publisher's list names them
/// (formats.md, section 3.2).
public struct RevokedCertificates: Hashable, Sendable {
    /// The pin of the issuing key.
    public var issuer: Pin

    /// The serial numbers of the revoked certificates.
    public var serials: [SerialNumber]

    /// Whether they are refused; otherwise a path that holds one is only reported.
    public var isEnforced: Bool

    /// The publisher's note. Published, so not for secrets.
    public var note: String?

    /// Creates an entry.
    public init(issuer: Pin, serials: [SerialNumber], isEnforced: Bool = true, note: String? = nil) {
        self.issuer = issuer
        self.serials = serials
        self.isEnforced = isEnforced
        self.note = note
    }
}

/// A certificate's serial number: the content octets of its INTEGER (RFC 5280, section 4.1.2.2), compared as they stand.
public struct SerialNumber: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length in octets. RFC 5280 allows 20; some certificates in use have more.
    public static let maximumLength = 64

    /// The content octets: at least one, the shortest form of the number; negative when the first is 0x80 or more.
    public let bytes: [UInt8]

    /// Reads a serial number in lower-case hexadecimal, two digits an octet: `0a1b`, with the leading `00` where DER
    /// has it.
    ///
    /// - Throws: ``InputError/Code/serial`` for anything else, and for a form that is not the shortest.
    public init(_ text: String) throws(InputError) {
        let digits = Array(text.utf8.prefix(2 * Self.maximumLength + 1))
        guard !digits.isEmpty, digits.count <= 2 * Self.maximumLength, digits.count.isMultiple(of: 2) else {
            throw InputError(.serial, "a serial number is 1 to \(Self.maximumLength) octets, two digits each")
        }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(of: digits[index]), let low = Self.value(of: digits[index + 1]) else {
                throw InputError(.serial, "a serial number is written with the digits 0 to 9 and a to f")
            }
            bytes.append(high << 4 | low)
        }
        guard Self.isShortest(bytes) else {
            throw InputError(.serial, "a serial number is written as in DER: 00 leads only where it must")
        }
        self.bytes = bytes
    }

    /// The serial number with these content octets; `nil` when there is none, more than ``maximumLength``, or a form that
    /// is not the shortest.
    public init?(contents: some Collection<UInt8>) {
        guard contents.count <= Self.maximumLength, Self.isShortest(contents) else { return nil }
        self.bytes = Array(contents)
    }

    /// Whether content octets are the one form that DER has for the number (X.690, section 8.3.2).
    static func isShortest(_ contents: some Collection<UInt8>) -> Bool {
        guard let first = contents.first else { return false }
        guard let second = contents.dropFirst().first else { return true }
        return !(first == 0x00 && second < 0x80) && !(first == 0xff && second >= 0x80)
    }

    /// Lower-case hexadecimal, two digits an octet.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// The revoked certificates of a policy by issuer and serial number: a look-up for each certificate of a path.
struct RevocationIndex: Sendable {
    /// The result of a look-up for a path.
    enum Finding {
        /// Nothing is revoked.
        case nothing
        /// A certificate is revoked.
        case revoked(PinningDecision.RevokedCertificate, isEnforced: Bool)
        /// A serial number or a key of the path cannot be read.
        case undecidable
    }

    private var serials: [Pin: [SerialNumber: Bool]] = [:]
    private var hasEnforced = false

    /// Indexes some entries; for a serial number that occurs twice, the enforcing entry decides.
    init(_ revoked: [RevokedCertificates]) {
        for entry in revoked {
            for serial in entry.serials {
                self.serials[entry.issuer, default: [:]][serial, default: false] =
                    entry.isEnforced || self.serials[entry.issuer]?[serial] == true
            }
            if entry.isEnforced { self.hasEnforced = true }
        }
    }

    /// Looks for each certificate of a path, but the anchor, under the key of the next one. An enforced revocation is
    /// returned before one that is only reported.
    func finding(in path: ValidatedPath) -> Finding {
        var reported: Finding?
        var isReadable = true
        for (index, certificate) in path.certificates.enumerated() {
            guard let fields = try? CertificateFields(walking: certificate) else {
                isReadable = false
                continue
            }
            // An anchor is trusted as it is: no issuer could revoke it.
            guard index + 1 < path.certificates.count else { continue }
            let contents = certificate[fields.serialNumber]
            if !SerialNumber.isShortest(contents) { isReadable = false }
            guard let issuer = path.publicKeyPins[index + 1], let serials = self.serials[issuer],
                let serial = SerialNumber(contents: contents), let isEnforced = serials[serial]
            else { continue }
            let found = Finding.revoked(
                PinningDecision.RevokedCertificate(issuer: issuer, serial: serial, index: index), isEnforced: isEnforced
            )
            if isEnforced { return found }
            reported = reported ?? found
        }
        if !isReadable, self.hasEnforced { return .undecidable }
        return reported ?? .nothing
    }
}

extension PinningDecision {
    /// A revoked certificate of a path.
    public struct RevokedCertificate: Hashable, Sendable, Encodable {
        /// The pin of the key that issued it: that of the next certificate of the path.
        public let issuer: Pin
        /// Its serial number.
        public let serial: SerialNumber
        /// Its place in the validated path; the leaf is 0.
        public let index: Int

        enum CodingKeys: CodingKey { case issuer, serial, index }

        /// Writes the pin in its canonical form, and the serial number in hexadecimal.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(self.issuer.description, forKey: .issuer)
            try container.encode(self.serial.description, forKey: .serial)
            try container.encode(self.index, forKey: .index)
        }
    }
}
