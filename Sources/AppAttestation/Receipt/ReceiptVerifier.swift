// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import PathValidation
import SwiftASN1
import X509

/// Verifies receipts: a CMS SignedData of BER, signed by Apple.
public struct ReceiptVerifier: Sendable {
    /// The app id that receipts must have: `TEAMID.bundle.id`; any where it is `nil`.
    public let appID: String?

    /// The anchor of accepted receipts.
    public let anchor: ReceiptAnchor

    private let roots: RootStore

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - appID: The app id that receipts must have: `TEAMID.bundle.id`; any where it is `nil`.
    ///   - anchor: The anchor of accepted receipts: Apple's.
    public init(appID: String?, anchor: ReceiptAnchor = .apple) {
        self.appID = appID
        self.anchor = anchor
        self.roots = RootStore(certificates: [anchor.root])
    }

    /// Verifies a receipt.
    ///
    /// The caller must check its age: a receipt that comes with an attestation is at most five minutes old.
    ///
    /// - Parameters:
    ///   - receipt: The receipt in BER.
    ///   - key: The key that it must be of; any where it is `nil`.
    ///   - time: The time of arrival, at which its signer's certificate must be valid and the receipt must not have
    ///     expired.
    /// - Throws: ``AttestationError`` without a step.
    public func verify(
        _ receipt: [UInt8], of key: AttestedKey? = nil, at time: Timestamp
    ) async throws(AttestationError) -> Receipt {
        let signed: SignedData
        do throws(SignedData.ParsingError) { signed = try SignedData(receipt) } catch {
            throw AttestationError(step: nil, "the receipt: \(error.reason)")
        }
        if let wanted = self.anchor.signerExtension, signed.signer.extensions[oid: wanted] == nil {
            throw AttestationError(step: nil, "the signer's certificate is not one for receipts")
        }
        // Counts alone bound the search, because there is no clock here.
        let validator = PathValidator(roots: self.roots) { 0 }
        if case .failure(let refusal) = await validator.validate(
            presented: signed.certificates, as: .noServer, at: time
        ).result {
            throw AttestationError(step: nil, "the receipt's signer has no path to the root: \(refusal.detail)")
        }
        let receipt = try Receipt(content: signed.content)
        if let appID = self.appID, receipt.appID != appID {
            throw AttestationError(step: nil, "the receipt is of another app")
        }
        if let key, receipt.key != key { throw AttestationError(step: nil, "the receipt is of another key") }
        guard time <= receipt.expires else {
            throw AttestationError(step: nil, "the receipt ended at \(receipt.expires)")
        }
        return receipt
    }
}

/// The anchor of accepted receipts.
public struct ReceiptAnchor: Sendable {
    /// The certificate in DER that paths must end in.
    public let root: [UInt8]

    /// The extension that a signer's certificate must have; `nil` for none.
    let signerExtension: ASN1ObjectIdentifier?

    /// Apple Root CA - G3, and of the certificates under it only the signers of receipts, because developers have
    /// certificates under that root as well, with keys of their own.
    public static let apple = ReceiptAnchor(
        root: AppleRoot.g3, signerExtension: [1, 2, 840, 113_635, 100, 12, 15])

    /// A custom root, all of whose signers are accepted; Apple's own root is ``apple`` here, too.
    public static func root(_ der: [UInt8]) -> ReceiptAnchor {
        der == AppleRoot.g3 ? .apple : ReceiptAnchor(root: der, signerExtension: nil)
    }
}
#endif
