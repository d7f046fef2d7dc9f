// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
@_spi(Adapters) internal import PinListClient
internal import PinListMetadata

/// Two logs of a trial, of two operators, and what they sign (RFC 6962, section 3.2).
struct TrialLogs: Sendable {
    private let keys: [TrialKey]
    private let time: Timestamp

    /// A log list with both, as clients read it.
    let file: [UInt8]

    /// Makes two logs that sign a while before a time.
    ///
    /// - Returns: `nil` when they cannot be made.
    init?(at time: Timestamp, _ randomness: any PinningRandomness) {
        let keys = (0..<2).compactMap { _ in TrialKey(.ecdsaP256SHA256, randomness) }
        guard keys.count == 2 else { return nil }
        let since = time.shifted(by: -TrialCertificate.before)
        // Two operators, also where one name was drawn twice.
        let operators = zip(keys, ["Logs", "CT"]).map { key, suffix in
            """
            {"name":"\(TrialNames(randomness).company) \(suffix)","logs":[{"log_id":"\
            \(Base64.encode(Self.id(of: key)))","key":"\(Base64.encode(key.subjectPublicKeyInfo))",\
            "state":{"usable":{"timestamp":"\(since)"}}}]}
            """
        }
        self.keys = keys
        self.time = time.shifted(by: -TrialCertificate.before / 2)
        self.file = Array("{\"operators\":[\(operators.joined(separator: ","))]}".utf8)
    }

    private static func id(of key: TrialKey) -> [UInt8] { Array(SHA256.hash(data: key.subjectPublicKeyInfo)) }

    /// The contents of the extension with a timestamp of each log: an OCTET STRING around a list.
    ///
    /// - Parameters:
    ///   - toBeSigned: The TBSCertificate without this extension, in DER.
    ///   - issuer: The SubjectPublicKeyInfo of the issuer.
    func timestamps(over toBeSigned: [UInt8], issuedBy issuer: [UInt8]) -> [UInt8]? {
        var list: [UInt8] = []
        let time = Self.number(UInt64(clamping: self.time.secondsSince1970) &* 1_000, 8)
        let entry: [UInt8] =
            [0, 0] + time + [0, 1] + Array(SHA256.hash(data: issuer)) + Self.number(UInt64(toBeSigned.count), 3)
            + toBeSigned + [0, 0]
        for key in self.keys {
            guard let signature = key.certificateSignature(over: entry) else { return nil }
            list += Self.vector([0] + Self.id(of: key) + time + [0, 0, 4, 3] + Self.vector(signature))
        }
        return DERWriter.value(0x04, Self.vector(list))
    }

    private static func vector(_ bytes: [UInt8]) -> [UInt8] { self.number(UInt64(bytes.count), 2) + bytes }

    private static func number(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
