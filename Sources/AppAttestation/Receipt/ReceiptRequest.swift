// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// The request to Apple for a newer receipt. The caller sends it.
///
/// Source: Apple's "Assessing fraud risk".
public struct ReceiptRequest: Hashable, Sendable {
    /// The URL.
    public let url: String

    /// `POST`.
    public let method = "POST"

    /// The header fields. Apple expects the token without the word `Bearer`.
    public let headers: [String: String]

    /// The body: the receipt in base64.
    public let body: [UInt8]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - receipt: The newest receipt of the key, within its ``Receipt/notBefore`` and
    ///     ``Receipt/expires``.
    ///   - environment: The environment of the key.
    ///   - token: The token of the developer.
    public init(for receipt: [UInt8], in environment: AttestationEnvironment, token: DeviceCheckToken) {
        let host =
            switch environment {
            case .production: "data.appattest.apple.com"
            case .development: "data-development.appattest.apple.com"
            }
        self.url = "https://\(host)/v1/attestationData"
        self.headers = ["Authorization": token.text, "Content-Type": "text/plain"]
        self.body = Array(Base64.encode(receipt).utf8)
    }
}
#endif
