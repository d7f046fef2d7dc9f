// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A certificate of a path that a probe validated.
public struct ProbedCertificate: Hashable, Sendable, Encodable {
    /// The pin of its key; `nil` when it cannot be read.
    public let pin: String?
    /// Its subject, for people.
    public let subject: String
    /// Its issuer, for people.
    public let issuer: String
    /// Its last second; `nil` when it cannot be read.
    public let notAfter: Timestamp?

    /// The seconds of a day.
    static let day: Int64 = 86_400

    /// Reads a certificate in DER.
    init(_ certificate: [UInt8], pin: Pin?) {
        self.pin = pin?.description
        self.subject = DistinguishedNameText(subjectOf: certificate)?.description ?? ""
        self.issuer = DistinguishedNameText(issuerOf: certificate)?.description ?? ""
        self.notAfter = (try? CertificateFields(walking: certificate)).flatMap { fields in
            CertificateValidity.read(certificate[fields.validity]).1
        }
    }

    /// The whole days that are left at a time, negative after the end; `nil` when the end cannot be read.
    public func daysLeft(at time: Timestamp) -> Int? {
        guard let notAfter else { return nil }
        let seconds = notAfter.secondsSince1970 - time.secondsSince1970
        // Rounded down: a day that has begun to end is no day.
        return Int((seconds - (seconds < 0 ? Self.day - 1 : 0)) / Self.day)
    }

    enum CodingKeys: CodingKey { case pin, subject, issuer, notAfter }

    /// Writes all members; `null` stands where there is nothing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.pin, forKey: .pin)
        try container.encode(self.subject, forKey: .subject)
        try container.encode(self.issuer, forKey: .issuer)
        try container.encode(self.notAfter?.description, forKey: .notAfter)
    }
}
