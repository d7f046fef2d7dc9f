// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A certification path that was validated for the host of a request: leaf first, anchor last.
///
/// Pins match on such a path and on nothing else. What a server presents is not one: it may append any certificate it
/// likes (CVE-2016-2402). Only an adapter that has had the platform validate the path, or `PathValidation`, makes one.
public struct ValidatedPath: Hashable, Sendable {
    /// The certificates in DER: leaf first, anchor last.
    public let certificates: [[UInt8]]

    /// The pin of each certificate's public key, `nil` where a certificate cannot be read.
    public let publicKeyPins: [Pin?]

    /// Creates a path that the platform, or a verifier with a root store, has validated for the requested host.
    ///
    /// - Parameter certificates: The certificates in DER: leaf first, anchor last, and nothing that was merely presented.
    public init(uncheckedValidatedPath certificates: [[UInt8]]) {
        self.certificates = certificates
        self.publicKeyPins = certificates.map { try? Pin(publicKeyOf: $0) }
    }

    /// Whether the certificate at an index cannot be read. Such a certificate matches no pin of any kind.
    func isUnreadable(at index: Int) -> Bool { self.publicKeyPins[index] == nil }

    /// The lowest index in the pin's position at which it matches, or `nil`.
    func index(matching pin: Pin, in position: KnownPin.Position = .any) -> Int? {
        self.publicKeyPins.indices.first { index in
            guard position.covers(index: index), let publicKey = self.publicKeyPins[index] else { return false }
            return switch pin.kind {
            case .publicKey: publicKey == pin
            case .certificate: Pin(kind: .certificate, hashing: self.certificates[index]) == pin
            }
        }
    }
}
