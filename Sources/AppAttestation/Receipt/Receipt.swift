// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// Apple's receipt for a key, which can be exchanged for the number of the device's keys. Only ``ReceiptVerifier``
/// creates one.
///
/// Source: Apple's "Assessing fraud risk".
public struct Receipt: Sendable {
    /// The type of a receipt.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The text in the receipt.
        public let rawValue: String

        /// Creates a type of any text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// From an attestation: it can be exchanged for one with a metric.
        public static let attestation = Kind(rawValue: "ATTEST")
        /// From Apple's server, with a metric.
        public static let receipt = Kind(rawValue: "RECEIPT")
    }

    /// Field 2: the app id, `TEAMID.bundle.id`.
    public let appID: String

    /// Field 3: the certificate of the key that was attested, in DER.
    public let certificate: [UInt8]

    /// The key in that certificate.
    public let key: AttestedKey

    /// Field 4: the attestation's `clientDataHash`. In receipts from Apple's server bytes that are not UTF-8 are
    /// replaced, so compare it in the first receipt only.
    public let clientHash: [UInt8]?

    /// Field 5: identifies the device and the key for Apple.
    public let token: String?

    /// Field 6: the type of the receipt.
    public let kind: Kind

    /// Field 7: `production` or `sandbox`, unchanged.
    public let environment: String?

    /// Field 12: the time when it was made.
    public let created: Timestamp

    /// Field 17: the approximate number of keys that the device made for the app in the last 30 days; only in a receipt
    /// from Apple's server.
    public let riskMetric: Int?

    /// Field 19: the time from which on another one may be requested.
    public let notBefore: Timestamp?

    /// Field 21: the time until which another one may be requested.
    public let expires: Timestamp
}

extension Receipt {
    /// Reads the content of a receipt: a SET of SEQUENCE { INTEGER type, INTEGER version, OCTET STRING value }. Unknown
    /// fields are ignored.
    ///
    /// - Throws: ``AttestationError`` without a step.
    @_spi(Parsers) public init(content: [UInt8]) throws(AttestationError) {
        let fields = try Self.fields(in: content)
        guard let appID = fields[2].flatMap(Self.text), let certificate = fields[3],
            let kind = fields[6].flatMap(Self.text).map(Kind.init), let created = try Self.time(fields[12]),
            let expires = try Self.time(fields[21])
        else { throw AttestationError(step: nil, "a field of the receipt is missing or is not a text") }
        guard kind == .attestation || kind == .receipt else {
            throw AttestationError(step: nil, "the type of the receipt is not known")
        }
        guard let key = LeafCertificate(certificate)?.key else {
            throw AttestationError(step: nil, "the certificate in the receipt cannot be read")
        }
        self.appID = appID
        self.certificate = certificate
        self.key = key
        self.clientHash = fields[4]
        self.token = fields[5].flatMap(Self.text)
        self.kind = kind
        self.environment = fields[7].flatMap(Self.text)
        self.created = created
        self.riskMetric = try fields[17].map { bytes throws(AttestationError) in try Self.metric(bytes) }
        self.notBefore = try Self.time(fields[19])
        self.expires = expires
    }

    private static func fields(in content: [UInt8]) throws(AttestationError) -> [Int: [UInt8]] {
        guard let set = try? BERElement.reading(content[...]), set.identifier == .set else {
            throw AttestationError(step: nil, "the receipt's content is not a set of fields")
        }
        var fields: [Int: [UInt8]] = [:]
        for element in set.children {
            guard element.identifier == .sequence, element.children.count == 3,
                let type = element.children[0].smallInteger, element.children[1].smallInteger != nil,
                let value = element.children[2].octets
            else { throw AttestationError(step: nil, "a field of the receipt cannot be read") }
            guard fields.updateValue(value, forKey: type) == nil else {
                throw AttestationError(step: nil, "the receipt has the field \(type) twice")
            }
        }
        return fields
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    private static func time(_ bytes: [UInt8]?) throws(AttestationError) -> Timestamp? {
        guard let bytes else { return nil }
        do throws(InputError) { return try Timestamp(roundingDownText: String(decoding: bytes, as: UTF8.self)) } catch {
            throw AttestationError(step: nil, "a time in the receipt cannot be read")
        }
    }

    /// Digits, at most nine.
    private static func metric(_ bytes: [UInt8]) throws(AttestationError) -> Int {
        guard (1...9).contains(bytes.count), bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw AttestationError(step: nil, "the receipt's risk metric is not a number") }
        return bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension Timestamp {
    /// Reads a time of RFC 3339 in UTC, with `Z` and with or without a fraction of a second, which is dropped.
    ///
    /// - Throws: `InputError.Code.timestamp` for anything else.
    @_spi(Parsers) public init(roundingDownText text: String) throws(InputError) {
        let characters = Array(text.utf8.prefix(31))
        guard characters.count > 20, characters.count <= 30, characters[19] == UInt8(ascii: "."),
            characters.last == UInt8(ascii: "Z"), characters[20...].count > 1,
            characters[20...].dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            try self.init(text)
            return
        }
        try self.init(String(decoding: characters[..<19], as: UTF8.self) + "Z")
    }
}
#endif
