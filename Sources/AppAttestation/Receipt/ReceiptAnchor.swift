// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// Whose receipts are believed.
public struct ReceiptAnchor: Sendable {
    /// The certificate in DER that paths must end in.
    public let root: [UInt8]

    /// The extension that a signer's certificate must have; none is asked for where it is `nil`.
    let signerExtension: ASN1ObjectIdentifier?

    /// Apple Root CA - G3, and of what is under it only the signers of receipts: developers have certificates under that
    /// root as well, with keys of their own.
    public static let apple = ReceiptAnchor(
        root: AppleRoot.g3, signerExtension: [1, 2, 840, 113_635, 100, 12, 15])

    /// A root of one's own, all of whose signers are believed; Apple's own root is ``apple`` here, too.
    public static func root(_ der: [UInt8]) -> ReceiptAnchor {
        der == AppleRoot.g3 ? .apple : ReceiptAnchor(root: der, signerExtension: nil)
    }
}
#endif
