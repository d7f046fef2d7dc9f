// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinRotation
internal import SwiftASN1

/// The Validity of a certificate (RFC 5280, section 4.1.2.5), for certificates whose key no parser here knows as well.
enum CertificateValidity {
    /// The first and the last second, each `nil` where it cannot be read.
    static func read(_ validity: ArraySlice<UInt8>) -> (Timestamp?, Timestamp?) {
        let times = try? DER.sequence(try DER.parse(validity), identifier: .sequence) { nodes in
            let first = nodes.next().flatMap { self.time($0) }
            let last = nodes.next().flatMap { self.time($0) }
            while nodes.next() != nil {}
            return (first, last)
        }
        return times ?? (nil, nil)
    }

    private static func time(_ node: ASN1Node) -> Timestamp? {
        func text(_ year: Int, _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, _ seconds: Int) -> String {
            func padded(_ value: Int, _ width: Int) -> String {
                String(repeating: "0", count: max(0, width - String(value).count)) + String(value)
            }
            let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            return "\(date)T\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(seconds, 2))Z"
        }
        if let time = try? UTCTime(derEncoded: node) {
            return try? Timestamp(text(time.year, time.month, time.day, time.hours, time.minutes, time.seconds))
        }
        if let time = try? GeneralizedTime(derEncoded: node) {
            return try? Timestamp(text(time.year, time.month, time.day, time.hours, time.minutes, time.seconds))
        }
        return nil
    }
}

extension CertificateLifetime {
    /// The lifetime of a certificate in DER; `nil` when it cannot be read.
    public init?(ofCertificate certificate: [UInt8]) {
        guard let fields = try? CertificateFields(walking: certificate),
            case (let notBefore?, let notAfter?) = CertificateValidity.read(certificate[fields.validity])
        else { return nil }
        self.init(notBefore: notBefore, notAfter: notAfter)
    }
}
