// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why a certificate cannot be read.
///
/// One byte, so that a typed throw costs nothing on the way of a handshake.
public struct CertificateDefect: Error, Hashable, Sendable, CustomStringConvertible {
    private let code: UInt8

    /// Over ``CertificateFields/maximumCertificateLength``.
    public static let tooLarge = CertificateDefect(code: 1)
    /// An element reaches beyond the one that holds it, or beyond the input.
    public static let truncated = CertificateDefect(code: 2)
    /// An indefinite length, or one written with more bytes than it needs (X.690, section 10.1).
    public static let lengthNotDER = CertificateDefect(code: 3)
    /// An element of another type than RFC 5280, section 4.1, puts in its place.
    public static let unexpectedElement = CertificateDefect(code: 4)
    /// Bytes after the end of the certificate, or of a structure in it.
    public static let trailingBytes = CertificateDefect(code: 5)

    /// What is wrong, for people.
    public var description: String {
        switch self {
        case .tooLarge: "over \(CertificateFields.maximumCertificateLength) bytes"
        case .truncated: "an element reaches beyond its end"
        case .lengthNotDER: "a length is not DER"
        case .unexpectedElement: "not the structure of an X.509 certificate"
        default: "bytes after the end"
        }
    }
}
