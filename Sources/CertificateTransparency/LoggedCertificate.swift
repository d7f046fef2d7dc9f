// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The parts of a certificate for Certificate Transparency: the bytes that its logs signed, its timestamps and its
/// validity.
///
/// Logs sign the certificate as it was before it had their timestamps (RFC 6962, section 3.2): its TBSCertificate with
/// exactly one extension cut out and the lengths around it adjusted. All other bytes stay as they are.
@_spi(Tools) public struct LoggedCertificate: Hashable, Sendable {
    /// The contents of the object identifier 1.3.6.1.4.1.11129.2.4.2 (RFC 6962, section 3.3).
    private static let timestampList: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02]

    /// The contents of the object identifier 1.3.6.1.4.1.11129.2.4.3 (RFC 6962, section 3.1).
    private static let poison: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03]

    /// The TBSCertificate without the timestamps.
    public let toBeSigned: [UInt8]

    /// The SignedCertificateTimestampList; `nil` where the certificate has none.
    public let timestamps: [UInt8]?

    /// The first second in which the certificate is valid.
    public let notBefore: Timestamp

    /// The last second in which the certificate is valid.
    public let notAfter: Timestamp

    /// Whether it is a precertificate: no client accepts it, and the certificate has the same ``toBeSigned`` (RFC 6962,
    /// section 3.1). Only with `orPrecertificate` of ``init(_:orPrecertificate:)``.
    public let isPrecertificate: Bool

    /// Reads a certificate.
    ///
    /// - Parameters:
    ///   - certificate: One certificate in DER, and nothing else.
    ///   - orPrecertificate: Whether a precertificate is accepted, too: its poison extension is cut out like the
    ///     timestamps. No server presents one.
    /// - Throws: ``TransparencyError``.
    public init(_ certificate: [UInt8], orPrecertificate: Bool = false) throws(TransparencyError) {
        let fields: CertificateFields
        do { fields = try CertificateFields(walking: certificate) } catch {
            throw TransparencyError(.certificate, "the certificate cannot be read: \(error)")
        }
        self = try certificate.withUnsafeBufferPointer { (buffer) throws(TransparencyError) in
            try LoggedCertificate(
                UnsafeRawBufferPointer(buffer).bytes, of: certificate, fields, orPrecertificate: orPrecertificate)
        }
    }

    private init(
        _ bytes: RawSpan, of certificate: [UInt8], _ fields: CertificateFields, orPrecertificate: Bool
    ) throws(TransparencyError) {
        guard let validity = CertificateValidity(certificate[fields.validity]) else {
            throw TransparencyError(.validity, "the certificate's validity cannot be read")
        }
        self.notBefore = validity.notBefore
        self.notAfter = validity.notAfter
        let parts: Parts
        do { parts = try Parts(bytes, fields) } catch {
            throw TransparencyError(.extensions, "the certificate's extensions cannot be read: \(error)")
        }
        guard parts.found.count <= 1 else {
            throw TransparencyError(.extensions, "the certificate has the timestamps twice")
        }
        let poisons = orPrecertificate ? parts.poisons : []
        guard poisons.count <= 1 else {
            throw TransparencyError(.extensions, "the precertificate has its poison twice")
        }
        self.isPrecertificate = !poisons.isEmpty
        self.timestamps = parts.found.first.map { Array(certificate[$0.list]) }
        let cuts = (parts.found.map(\.whole) + poisons).sorted { $0.lowerBound < $1.lowerBound }
        guard !cuts.isEmpty else {
            self.toBeSigned = Array(certificate[fields.toBeSigned])
            return
        }
        var position = parts.extensions.lowerBound
        var kept: [UInt8] = []
        for cut in cuts {
            kept += certificate[position..<cut.lowerBound]
            position = cut.upperBound
        }
        kept += certificate[position..<parts.extensions.upperBound]
        var extensions: [UInt8] = []
        if !kept.isEmpty {
            let sequence = Self.header(DERCursor.Tag.sequence, kept.count)
            extensions = Self.header(DERCursor.Tag.extensions, sequence.count + kept.count) + sequence + kept
        }
        let before = certificate[parts.contents.lowerBound..<fields.uniqueIdentifiers.upperBound]
        self.toBeSigned =
            Self.header(DERCursor.Tag.sequence, before.count + extensions.count) + before + extensions
    }

    /// The entry of type `precert_entry` that the certificate's logs signed: two bytes, the issuer, the TBSCertificate.
    ///
    /// - Parameter issuer: The pin of the issuer's public key.
    public func entry(issuedBy issuer: Pin) -> [UInt8] {
        // The result is shorter than the certificate, whose length is bounded.
        let length = self.toBeSigned.count
        return [0, 1] + issuer.digest
            + [16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + self.toBeSigned
    }

    /// An identifier octet and a length, in the one form that DER has for it (X.690, section 10.1).
    private static func header(_ tag: UInt8, _ length: Int) -> [UInt8] {
        switch length {
        case ..<0x80: [tag, UInt8(truncatingIfNeeded: length)]
        case ..<0x100: [tag, 0x81, UInt8(truncatingIfNeeded: length)]
        // The maximum length of a certificate fits into two bytes.
        default: [tag, 0x82, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        }
    }

    /// The positions of the parts of a TBSCertificate that are kept and cut out.
    private struct Parts {
        /// The contents of the TBSCertificate.
        let contents: Range<Int>
        /// The contents of the sequence of extensions; empty where there are none.
        var extensions: Range<Int>
        /// The extensions with timestamps: the whole extension, and the list in it.
        var found: [(whole: Range<Int>, list: Range<Int>)] = []
        /// The poison extensions of a precertificate (RFC 6962, section 3.1).
        var poisons: [Range<Int>] = []

        init(_ bytes: RawSpan, _ fields: CertificateFields) throws(InvalidCertificateError) {
            var toBeSigned = DERCursor(fields.toBeSigned)
            self.contents = try toBeSigned.lastContents(of: DERCursor.Tag.sequence, in: bytes)
            let end = self.contents.upperBound
            self.extensions = end..<end
            var tagged = DERCursor(fields.uniqueIdentifiers.upperBound..<end)
            guard !tagged.isAtEnd else { return }
            var sequence = DERCursor(try tagged.lastContents(of: DERCursor.Tag.extensions, in: bytes))
            self.extensions = try sequence.lastContents(of: DERCursor.Tag.sequence, in: bytes)
            var each = DERCursor(self.extensions)
            while !each.isAtEnd {
                let start = each.position
                let contents = try each.contents(of: DERCursor.Tag.sequence, in: bytes)
                var members = DERCursor(contents)
                let identifier = try members.contents(of: DERCursor.Tag.objectIdentifier, in: bytes)
                if Self.isExtension(LoggedCertificate.poison, bytes, identifier) {
                    self.poisons.append(start..<each.position)
                }
                guard Self.isExtension(LoggedCertificate.timestampList, bytes, identifier) else { continue }
                var (tag, value) = try members.element(in: bytes)
                if tag == DERCursor.Tag.boolean { (tag, value) = try members.element(in: bytes) }
                guard tag == DERCursor.Tag.octetString else { throw .unexpectedElement }
                guard members.isAtEnd else { throw .trailingBytes }
                var wrapped = DERCursor(value)
                let list = try wrapped.lastContents(of: DERCursor.Tag.octetString, in: bytes)
                self.found.append((start..<each.position, list))
            }
        }

        private static func isExtension(_ identifier: [UInt8], _ bytes: RawSpan, _ range: Range<Int>) -> Bool {
            range.count == identifier.count
                && range.indices.allSatisfy {
                    bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == identifier[$0 - range.lowerBound]
                }
        }
    }
}
