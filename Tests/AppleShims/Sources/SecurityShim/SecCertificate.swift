// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import SwiftASN1
package import X509

/// An X.509 certificate, as one object that is equal to another with the same bytes.
public final class SecCertificate: Hashable, Sendable {
    package let der: [UInt8]
    package let certificate: Certificate

    /// Reads a certificate; `nil` when it cannot be read.
    package init?(der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        self.der = der
        self.certificate = certificate
    }

    /// The same bytes.
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool { left.der == right.der }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.der) }
}

/// Reads a certificate in DER; `nil` when it cannot be read.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(der: [UInt8](Data(referencing: data)))
}

/// The certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: Data(certificate.der))
}

/// A line for people: here, the subject.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    NSString(string: certificate.certificate.subject.description)
}
