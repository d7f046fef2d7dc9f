// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// Apple's answer to a ``ReceiptRequest``.
public struct ReceiptAnswer: Sendable {
    /// The kind of answer. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The label, lower case with hyphens.
        public let description: String

        /// 200: there is a newer receipt.
        public static let renewed = Code(description: "renewed")
        /// 304: there is no newer receipt yet; the stored one says when to ask again.
        public static let notYet = Code(description: "not-yet")
        /// 400: the receipt is invalid, or of the other environment.
        public static let refused = Code(description: "refused")
        /// 401: the token is not accepted.
        public static let unauthorized = Code(description: "unauthorized")
        /// 404: the key is not known.
        public static let unknown = Code(description: "unknown")
        /// 429: too many requests.
        public static let tooMany = Code(description: "too-many")
        /// Any other status, or a body that is not a receipt in base64.
        public static let unexpected = Code(description: "unexpected")
    }

    /// The kind of answer.
    public let code: Code

    /// The newer receipt, still to be verified; with ``Code/renewed`` alone.
    public let receipt: [UInt8]?

    /// The maximum length of a body in bytes: the longest receipt that is read, in base64, and some.
    public static let maximumBodyLength = 98_304

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body; one of more than ``maximumBodyLength`` bytes is not read.
    public init(status: Int, body: [UInt8]) {
        let code: Code =
            switch status {
            case 200: .renewed
            case 304: .notYet
            case 400: .refused
            case 401: .unauthorized
            case 404: .unknown
            case 429: .tooMany
            default: .unexpected
            }
        guard code == .renewed else {
            self.code = code
            self.receipt = nil
            return
        }
        let receipt = body.count <= Self.maximumBodyLength ? Self.receipt(in: body) : nil
        self.code = receipt == nil ? .unexpected : .renewed
        self.receipt = receipt
    }

    private static func receipt(in body: [UInt8]) -> [UInt8]? {
        let blanks: [UInt8] = [0x20, 0x0d, 0x0a]
        guard let bytes = Base64.decode(body.filter { !blanks.contains($0) }), !bytes.isEmpty,
            bytes.count <= BERElement.maximumLength
        else { return nil }
        return bytes
    }
}
#endif
