// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// Apple's word on a key, for asking it later how many keys the device has made. Only ``ReceiptVerifier`` makes one.
///
/// Source: Apple's "Assessing fraud risk".
public struct Receipt: Sendable {
    /// What a receipt is.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// As the receipt has it.
        public let rawValue: String

        /// Takes any text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// From an attestation: worth exchanging for one with a metric.
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

    /// Field 4: what the attestation had as `clientDataHash`. In receipts from Apple's server bytes that are no UTF-8 have
    /// been replaced, so that it is to be compared in the first one only.
    public let clientHash: [UInt8]?

    /// Field 5: names the device and the key at Apple.
    public let token: String?

    /// Field 6: what the receipt is.
    public let kind: Kind

    /// Field 7: `production` or `sandbox`, as it stands there.
    public let environment: String?

    /// Field 12: when it was made.
    public let created: Timestamp

    /// Field 17: about how many keys the device has made for the app in the last 30 days; only in a receipt from Apple's
    /// server.
    public let riskMetric: Int?

    /// Field 19: from when on another one may be asked for.
    public let notBefore: Timestamp?

    /// Field 21: until when another one may be asked for.
    public let expires: Timestamp
}
#endif
