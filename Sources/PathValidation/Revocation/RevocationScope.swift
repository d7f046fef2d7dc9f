// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// The scope of a revocation list: the certificates that it covers, or why it covers none (RFC 5280, sections 5.2 and
/// 5.3).
struct RevocationScope: Sendable {
    /// The kind of certificates it covers.
    enum Kind: Sendable {
        case all, users, authorities
    }

    /// The URIs of its distribution point, as they stand; `nil` where it has none.
    private(set) var names: [[UInt8]]?

    /// The kind of certificates it covers.
    private(set) var kind = Kind.all

    /// The reason for which it covers no certificate, for people; `nil` where it covers some.
    private(set) var obstacle: String?

    /// The maximum number of extensions of a list, and of URIs of its distribution point: real lists have a few.
    private static let maximum = 32

    private typealias Tag = ElementCursor.Tag

    /// `id-ce` (2.5.29), the arc of all extensions that are read.
    private static let arc: [UInt8] = [0x55, 0x1d]

    private enum Identifier {
        static let crlNumber: UInt8 = 20
        static let reasonCode: UInt8 = 21
        static let invalidityDate: UInt8 = 24
        static let deltaIndicator: UInt8 = 27
        static let distributionPoint: UInt8 = 28
        static let certificateIssuer: UInt8 = 29
        static let authorityKey: UInt8 = 35
    }

    /// Reads the extensions of a list.
    ///
    /// - Parameter range: The contents of the element that holds them.
    mutating func read(_ range: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError) {
        var outer = ElementCursor(range)
        var extensions = ElementCursor(try outer.lastElement(Tag.sequence, in: bytes).contents)
        guard !extensions.isAtEnd else { throw .unexpectedElement }
        var seen: Set<[UInt8]> = []
        while !extensions.isAtEnd {
            let found = try Extension(&extensions, in: bytes)
            guard seen.insert(Self.copy(found.identifier, of: bytes)).inserted else { throw .unexpectedElement }
            guard seen.count <= Self.maximum else { throw .tooLarge }
            switch found.number(in: bytes) {
            case Identifier.crlNumber, Identifier.authorityKey: break
            case Identifier.deltaIndicator: self.object("it only has the changes since another list (a delta CRL)")
            case Identifier.distributionPoint: try self.readDistributionPoint(found.value, in: bytes)
            default: if found.isCritical { self.object("it has an unknown critical extension") }
            }
        }
    }

    /// Reads the extensions of an entry.
    @inline(__always)
    mutating func readEntry(_ range: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError) {
        // Nearly all have a reason and nothing else: `30 0a 06 03 55 1d 15 04 03 0a 01` and its number.
        if range.count == 12,
            UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self))
                == 0x300a_0603_551d_1504,
            UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: range.lowerBound &+ 8, as: UInt32.self))
                & 0xffff_ff00 == 0x030a_0100
        {
            return
        }
        try self.readUnusualEntry(range, in: bytes)
    }

    @inline(never)
    private mutating func readUnusualEntry(_ range: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError) {
        // An empty sequence of extensions should not be written, but some lists have one.
        var extensions = ElementCursor(range)
        while !extensions.isAtEnd {
            let found = try Extension(&extensions, in: bytes)
            switch found.number(in: bytes) {
            case Identifier.reasonCode, Identifier.invalidityDate: break
            // Entries may be of several issuers then (section 5.3.3).
            case Identifier.certificateIssuer: self.object("an entry names another issuer (an indirect CRL)")
            default: if found.isCritical { self.object("an entry has an unknown critical extension") }
            }
        }
    }

    /// The reasons by their numbers (section 5.3.1); there is no 7.
    private static let reasons = [
        "unspecified", "keyCompromise", "cACompromise", "affiliationChanged", "superseded", "cessationOfOperation",
        "certificateHold", nil, "removeFromCRL", "privilegeWithdrawn", "aACompromise",
    ]

    /// The reason in the extensions of an entry; `nil` where there is none.
    static func reason(in range: Range<Int>, of bytes: RawSpan) -> String? {
        var extensions = ElementCursor(range)
        while !extensions.isAtEnd, let found = try? Extension(&extensions, in: bytes) {
            guard found.number(in: bytes) == Identifier.reasonCode else { continue }
            var value = ElementCursor(found.value)
            guard let code = try? value.lastElement(Tag.enumerated, in: bytes).contents, code.count == 1 else {
                return nil
            }
            let number = Int(bytes.unsafeLoad(fromByteOffset: code.lowerBound, as: UInt8.self))
            return self.reasons.indices.contains(number) ? self.reasons[number] : nil
        }
        return nil
    }

    /// The IssuingDistributionPoint (section 5.2.5), whose members come in their order, each at most once.
    private mutating func readDistributionPoint(_ value: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError)
    {
        var outer = ElementCursor(value)
        var fields = ElementCursor(try outer.lastElement(Tag.sequence, in: bytes).contents)
        guard !fields.isAtEnd else { throw .unexpectedElement }
        var next: UInt8 = 0
        while !fields.isAtEnd {
            let field = try fields.element(in: bytes)
            let number = field.tag & 0x1f
            guard field.tag & 0xc0 == 0x80, number >= next, number <= 5 else { throw .unexpectedElement }
            next = number + 1
            guard field.tag & 0x20 == (number == 0 ? 0x20 : 0) else { throw .unexpectedElement }
            switch number {
            case 0: try self.readName(field.contents, in: bytes)
            case 3: self.object("it is only for some reasons")
            default:
                // False is not written (X.690, section 11.5).
                guard field.contents.count == 1,
                    bytes.unsafeLoad(fromByteOffset: field.contents.lowerBound, as: UInt8.self) == 0xff
                else { throw .unexpectedElement }
                switch number {
                case 1: self.kind = .users
                case 2:
                    guard self.kind == .all else { throw .unexpectedElement }
                    self.kind = .authorities
                case 4: self.object("it is of several issuers (an indirect CRL)")
                default: self.object("it is for attribute certificates")
                }
            }
        }
    }

    /// The DistributionPointName: a full name, of which URIs count, or one that is relative to the issuer's.
    private mutating func readName(_ range: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError) {
        var choice = ElementCursor(range)
        let name = try choice.element(in: bytes)
        try choice.finish()
        switch name.tag {
        case 0xa1: self.object("its distribution point has a name relative to its issuer's")
        case 0xa0:
            var names = ElementCursor(name.contents)
            guard !names.isAtEnd else { throw .unexpectedElement }
            var found: [[UInt8]] = []
            while !names.isAtEnd {
                let element = try names.element(in: bytes)
                // GeneralName has the tags 0 to 8 (section 4.2.1.6).
                guard element.tag & 0xc0 == 0x80, element.tag & 0x1f <= 8 else { throw .unexpectedElement }
                guard element.tag == 0x86 else { continue }
                found.append(Self.copy(element.contents, of: bytes))
                guard found.count <= Self.maximum else { throw .tooLarge }
            }
            self.names = found
        default: throw .unexpectedElement
        }
    }

    private mutating func object(_ text: String) { self.obstacle = self.obstacle ?? text }

    private static func copy(_ range: Range<Int>, of bytes: RawSpan) -> [UInt8] {
        range.map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }

    /// One Extension (section 4.1).
    private struct Extension {
        let identifier: Range<Int>
        let isCritical: Bool
        /// The contents of the OCTET STRING.
        let value: Range<Int>

        init(_ extensions: inout ElementCursor, in bytes: RawSpan) throws(InvalidCertificateError) {
            var fields = ElementCursor(try extensions.element(Tag.sequence, in: bytes).contents)
            self.identifier = try fields.element(Tag.objectIdentifier, in: bytes).contents
            guard !self.identifier.isEmpty else { throw .unexpectedElement }
            var isCritical = false
            if fields.nextTag(in: bytes) == Tag.boolean {
                let flag = try fields.element(in: bytes).contents
                guard flag.count == 1, bytes.unsafeLoad(fromByteOffset: flag.lowerBound, as: UInt8.self) == 0xff else {
                    throw .unexpectedElement
                }
                isCritical = true
            }
            self.isCritical = isCritical
            self.value = try fields.lastElement(Tag.octetString, in: bytes).contents
        }

        /// The number under `id-ce`; `nil` for an identifier elsewhere.
        func number(in bytes: RawSpan) -> UInt8? {
            guard self.identifier.count == 3,
                RevocationScope.copy(self.identifier.prefix(2), of: bytes) == RevocationScope.arc
            else { return nil }
            return bytes.unsafeLoad(fromByteOffset: self.identifier.lowerBound &+ 2, as: UInt8.self)
        }
    }
}
#endif
