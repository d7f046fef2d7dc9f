// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto

/// The anchors that a path may end in.
public struct RootStore: Sendable {
    private let bySubject: [ArraySlice<UInt8>: [CandidateCertificate]]

    /// The number of usable anchors.
    public let count: Int

    /// SHA-256 over the anchors, in the order of their bytes: equal for stores of the same anchors.
    public let digest: [UInt8]

    /// The number of certificates that were left out because they, or their keys, are of an unsupported kind.
    public let unusableCount: Int

    /// Reads a root store in PEM, such as a system's bundle. Blocks other than certificates are skipped.
    ///
    /// - Throws: `InputError.Code.pem` for text that is damaged, or holds no certificate that can be used.
    public init(pem text: some Collection<UInt8>) throws(InputError) {
        let certificates = try PEMBlock.blocks(in: text).filter { $0.label == PEMBlock.certificateLabel }.map(\.bytes)
        self.init(certificates: certificates)
        guard self.count > 0 else {
            throw InputError(.pem, certificates.isEmpty ? "no certificate in it" : "no certificate in it can be used")
        }
    }

    /// Creates a store of certificates in DER. Unusable ones are left out and counted; an empty store
    /// validates nothing.
    public init(certificates: some Sequence<[UInt8]>) {
        var bySubject: [ArraySlice<UInt8>: [CandidateCertificate]] = [:]
        var count = 0
        var unusable = 0
        for der in certificates {
            guard let anchor = try? CandidateCertificate(der) else {
                unusable += 1
                continue
            }
            count += 1
            bySubject[anchor.subject, default: []].append(anchor)
        }
        self.bySubject = bySubject
        self.count = count
        self.unusableCount = unusable
        var hash = SHA256()
        for anchor in bySubject.values.joined().map(\.der).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            hash.update(length: anchor.count)
            hash.update(data: anchor)
        }
        self.digest = Array(hash.finalize())
    }

    /// The anchors with a subject.
    func anchors(named subject: ArraySlice<UInt8>) -> [CandidateCertificate] { self.bySubject[subject] ?? [] }

    /// The anchors with a subject, DER.
    ///
    /// - Parameter subject: The Name as it stands in a certificate.
    @_spi(Tools) public func certificates(named subject: ArraySlice<UInt8>) -> [[UInt8]] {
        self.anchors(named: subject).map(\.der)
    }

    /// Whether a certificate is an anchor, byte for byte.
    func contains(_ candidate: CandidateCertificate) -> Bool {
        self.anchors(named: candidate.subject).contains { $0.der == candidate.der }
    }
}

extension SHA256 {
    /// Hashes a length in eight bytes, so that the next value has an unambiguous end.
    mutating func update(length: Int) {
        withUnsafeBytes(of: UInt64(length).bigEndian) { self.update(bufferPointer: $0) }
    }
}
#endif
