// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinRotation

extension CertificateLifetime {
    /// The lifetime of a certificate in DER; `nil` when it cannot be read.
    public init?(ofCertificate certificate: [UInt8]) {
        guard let fields = try? CertificateFields(walking: certificate),
            case (let notBefore?, let notAfter?) = CertificateValidity.read(certificate[fields.validity])
        else { return nil }
        self.init(notBefore: notBefore, notAfter: notAfter)
    }
}
