// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A log's promise that it saw a certificate (RFC 6962, section 3.2), version 1.
@_spi(Tools) public struct SignedCertificateTimestamp: Hashable, Sendable {
    /// The log that signed.
    public let log: LogID

    /// The time when the log saw the certificate, in milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: UInt64

    /// The log's extensions. Static logs put the leaf's index there; it is signed with the rest.
    public let extensions: [UInt8]

    /// HashAlgorithm and SignatureAlgorithm, two bytes.
    public let algorithm: [UInt8]

    /// The signature.
    public let signature: [UInt8]

    /// The result of reading bytes.
    public enum Reading: Hashable, Sendable {
        /// A timestamp.
        case timestamp(SignedCertificateTimestamp)
        /// A timestamp of an unknown version, which is skipped.
        case otherVersion
        /// Not a timestamp.
        case malformed
    }

    /// Reads one timestamp, to the last byte.
    public static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        var reader = TLSReader(bytes)
        guard let version = reader.number(1) else { return .malformed }
        guard version == 0 else { return .otherVersion }
        guard let log = reader.bytes(LogID.length).flatMap({ LogID($0) }), let milliseconds = reader.number(8),
            let extensions = reader.vector(), let algorithm = reader.bytes(2), let signature = reader.vector(),
            reader.isAtEnd
        else { return .malformed }
        return .timestamp(
            SignedCertificateTimestamp(
                log: log, milliseconds: milliseconds, extensions: Array(extensions), algorithm: Array(algorithm),
                signature: Array(signature)))
    }

    /// ``milliseconds``, cut to seconds.
    public var time: Timestamp { Timestamp(secondsSince1970: Int64(self.milliseconds / 1_000)) }

    /// Whether it is later than a time, to the millisecond.
    func isLater(than time: Timestamp) -> Bool {
        self.time > time || (self.time == time && self.milliseconds % 1_000 > 0)
    }

    /// The bytes that the log signed.
    ///
    /// - Parameter entry: The entry's type, two bytes, and its contents: see ``LoggedCertificate``.
    public func signedBytes(over entry: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0, 0]
        bytes.reserveCapacity(12 + entry.count + self.extensions.count)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: self.milliseconds >> UInt64(shift)))
        }
        bytes += entry
        // The length was read from two bytes.
        bytes.append(UInt8(truncatingIfNeeded: self.extensions.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: self.extensions.count))
        return bytes + self.extensions
    }
}

extension SignedCertificateTimestamp {
    /// The maximum number of timestamps of a certificate. Certificates of the public web have two to four; each may
    /// cost a verification.
    public static let maximumCount = 32

    /// Reads a SignedCertificateTimestampList (RFC 6962, section 3.3).
    ///
    /// - Parameter bytes: The list, and nothing else.
    /// - Throws: ``TransparencyError`` where the bytes are not a list, or have too many timestamps. A defect within
    ///   one timestamp affects that timestamp alone.
    public static func readList(_ bytes: [UInt8]) throws(TransparencyError) -> [Reading] {
        var outer = TLSReader(bytes[...])
        guard let list = outer.vector(), outer.isAtEnd, !list.isEmpty else {
            throw TransparencyError(.list, "the timestamps are not a list")
        }
        var reader = TLSReader(list)
        var readings: [Reading] = []
        while !reader.isAtEnd {
            guard let bytes = reader.vector() else {
                throw TransparencyError(.list, "a timestamp reaches beyond the list of them")
            }
            guard readings.count < self.maximumCount else {
                throw TransparencyError(.tooMany, "over \(self.maximumCount) timestamps")
            }
            readings.append(self.read(bytes))
        }
        return readings
    }
}

/// Steps over the vectors of TLS's presentation language (RFC 5246, section 4) in some bytes. A read beyond the end
/// returns `nil` and steps over nothing.
struct TLSReader {
    private var rest: ArraySlice<UInt8>

    /// A reader over some bytes.
    init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    /// Whether everything was stepped over.
    var isAtEnd: Bool { self.rest.isEmpty }

    /// Reads a number of bytes.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= self.rest.count else { return nil }
        let bytes = self.rest.prefix(count)
        self.rest = self.rest.dropFirst(count)
        return bytes
    }

    /// Reads a big-endian number of at most eight bytes.
    mutating func number(_ count: Int) -> UInt64? {
        self.bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a vector whose length precedes it in two bytes.
    mutating func vector() -> ArraySlice<UInt8>? {
        let start = self.rest
        guard let length = self.number(2), let bytes = self.bytes(Int(length)) else {
            self.rest = start
            return nil
        }
        return bytes
    }
}
