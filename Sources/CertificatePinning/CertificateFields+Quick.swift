// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The quick walk over certificates of the common form, which reports no defects.
///
/// A pin costs little more than its hash when the walk to the key does. So the common lengths are compared before any
/// is read, and the processor goes on with the next element without waiting for this one's header. Each read is covered
/// by one comparison that the walk needs anyway. Any other form is left to the careful walk.
extension CertificateFields {
    /// Walks a certificate with lengths of two bytes outside, a version, a key of P-256, P-384 or RSA, extensions and no
    /// unique identifiers, and with names below 256 bytes.
    ///
    /// It accepts only what the careful walk accepts, and returns the same fields.
    ///
    /// - Parameter bytes: One certificate in DER, and nothing else.
    /// - Returns: `nil` for any other certificate and for a damaged one: the careful walk must decide.
    @inline(__always)
    @_spi(Adapters) public init?(quicklyWalking bytes: RawSpan) {
        // Below, each position that is read at is at most `signedEnd`, `count - 8` or `keyEnd`, all of which leave four
        // bytes to read, or one of the first: `30 82 hh ll` twice, with contents of 256 bytes and more (X.690, 10.1).
        let count = bytes.byteCount
        guard count >= 0x104, count <= Self.maximumCertificateLength else { return nil }
        let frame = UInt64(bigEndian: bytes.load(at: 0))
        let signedEnd = 8 &+ Int(truncatingIfNeeded: frame & 0xffff)
        guard frame >> 32 == 0x3082_0000 | UInt64(truncatingIfNeeded: count &- 4),
            frame & 0xffff_0000 == 0x3082_0000, frame & 0xff00 != 0, signedEnd <= count &- 8
        else { return nil }
        // The signature's AlgorithmIdentifier and BIT STRING.
        guard let signatureAlgorithmEnd = bytes.sequenceEnd(at: signedEnd, mostly: 10, 13, within: count &- 4),
            bytes.isFilled(by: 0x03, from: signatureAlgorithmEnd, to: count)
        else { return nil }

        // A version of one byte, `a0 03 02 01` and the number, then the serial number: `02`, its length.
        let version = UInt64(littleEndian: bytes.load(at: 8))
        guard version & 0x0080_ff00_ffff_ffff == 0x0000_0200_0102_03a0 else { return nil }
        let signature = 15 &+ Int(truncatingIfNeeded: version >> 48 & 0xff)
        // The lengths of ECDSA's AlgorithmIdentifiers (RFC 5758), and of RSA's with its NULL (RFC 4055); of two UTCTimes,
        // and of one with a GeneralizedTime.
        guard let issuer = bytes.sequenceEnd(at: signature, mostly: 10, 13, within: signedEnd),
            let validity = bytes.sequenceEnd(at: issuer, within: signedEnd),
            let subject = bytes.sequenceEnd(at: validity, mostly: 30, 32, within: signedEnd),
            let key = bytes.sequenceEnd(at: subject, within: signedEnd),
            let keyEnd = bytes.commonKeyEnd(at: key, within: signedEnd),
            bytes.isFilled(by: 0xa3, from: keyEnd, to: signedEnd)
        else { return nil }

        self.toBeSignedStart = 4
        self.toBeSignedEnd = UInt32(truncatingIfNeeded: signedEnd)
        self.signatureAlgorithmEnd = UInt32(truncatingIfNeeded: signatureAlgorithmEnd)
        self.serialNumberStart = 15
        self.signatureStart = UInt32(truncatingIfNeeded: signature)
        self.issuerStart = UInt32(truncatingIfNeeded: issuer)
        self.validityStart = UInt32(truncatingIfNeeded: validity)
        self.subjectStart = UInt32(truncatingIfNeeded: subject)
        self.keyStart = UInt32(truncatingIfNeeded: key)
        self.keyEnd = UInt32(truncatingIfNeeded: keyEnd)
        self.identifiersEnd = UInt32(truncatingIfNeeded: keyEnd)
    }
}

extension RawSpan {
    /// The bytes at a position, unchecked because the quick walk has compared the position with an end that leaves four
    /// bytes, or reads eight among the first sixteen.
    @inline(__always)
    fileprivate func load<Number: FixedWidthInteger & BitwiseCopyable>(at position: Int) -> Number {
        self.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: Number.self)
    }

    /// The end of a SEQUENCE whose contents mostly have one of two lengths, and are below 128 bytes.
    @inline(__always)
    fileprivate func sequenceEnd(at position: Int, mostly first: UInt16, _ second: UInt16, within end: Int) -> Int? {
        let header = UInt16(littleEndian: self.load(at: position))
        let next: Int
        if header == 0x30 | first << 8 {
            next = position &+ 2 &+ Int(first)
        } else if header == 0x30 | second << 8 {
            next = position &+ 2 &+ Int(second)
        } else {
            guard header & 0x80ff == 0x30 else { return nil }
            next = position &+ 2 &+ Int(header >> 8)
        }
        return next <= end ? next : nil
    }

    /// The end of a SEQUENCE whose contents are below 256 bytes.
    @inline(__always)
    fileprivate func sequenceEnd(at position: Int, within end: Int) -> Int? {
        guard self.load(at: position) as UInt8 == 0x30 else { return nil }
        let length: UInt8 = self.load(at: position &+ 1)
        let next: Int
        if length < 0x80 {
            next = position &+ 2 &+ Int(length)
        } else {
            let long: UInt8 = self.load(at: position &+ 2)
            guard length == 0x81, long >= 0x80 else { return nil }
            next = position &+ 3 &+ Int(long)
        }
        return next <= end ? next : nil
    }

    /// The end of a SubjectPublicKeyInfo that holds an AlgorithmIdentifier and a BIT STRING, and nothing else: on P-256
    /// or P-384, uncompressed (RFC 5480), or RSA with contents of 256 bytes and more (RFC 3279).
    @inline(__always)
    fileprivate func commonKeyEnd(at position: Int, within end: Int) -> Int? {
        let header = UInt32(littleEndian: self.load(at: position))
        let bits: Int
        let next: Int
        // `30 59 30 13`, `30 76 30 10` and `30 82 hh ll 30 0d`.
        if header == 0x1330_5930 {
            bits = position &+ 23
            next = position &+ 91
        } else if header == 0x1030_7630 {
            bits = position &+ 20
            next = position &+ 120
        } else {
            next = position &+ 4 &+ Int(header.byteSwapped & 0xffff)
            guard header & 0xffff == 0x8230, header & 0xff0000 != 0, next <= end,
                UInt16(littleEndian: self.load(at: position &+ 4)) == 0x0d30
            else { return nil }
            bits = position &+ 19
        }
        guard next <= end else { return nil }
        return self.isFilled(by: 0x03, from: bits, to: next) ? next : nil
    }

    /// Whether the input is exactly one element with this identifier octet: its length's one form (X.690, section 10.1)
    /// follows from the place.
    @inline(__always)
    fileprivate func isFilled(by tag: UInt32, from position: Int, to end: Int) -> Bool {
        let header = UInt32(littleEndian: self.load(at: position))
        let length = UInt32(truncatingIfNeeded: end &- position)
        if length < 0x82 { return length >= 2 && header & 0xffff == tag | (length &- 2) << 8 }
        if length < 0x103 { return length > 0x82 && header & 0xff_ffff == tag | 0x8100 | (length &- 3) << 16 }
        return length > 0x103 && header.byteSwapped == tag << 24 | 0x82_0000 | (length &- 4)
    }
}
