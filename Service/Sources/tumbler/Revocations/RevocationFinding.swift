// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PathValidation

/// The finding of revocation lists on one certificate.
struct RevocationFinding: Encodable, Sendable {
    /// The state of a certificate by the lists.
    enum State: String, Encodable, Sendable {
        /// A list has it.
        case revoked
        /// A list covers it, and does not have it.
        case good
        /// No list covers it.
        case unknown
    }

    /// Its owners: hosts, files.
    let of: [String]
    /// Its subject, for people.
    let subject: String
    /// Its serial number; `nil` for one that no list of ours can name.
    let serial: SerialNumber?
    /// The pin of its issuer's key; `nil` when that cannot be read.
    let issuer: Pin?
    /// The state by the lists.
    let state: State
    /// Since when it is revoked; `nil` where it is not, or the list does not say.
    let since: Timestamp?
    /// The reason for its revocation, as RFC 5280 calls it; `nil` where it is not revoked, or the list does not say.
    let reason: String?
    /// Until when a list says that it is good.
    let until: Timestamp?
    /// The reason for which it is unknown, in words.
    let detail: String?
    /// Whether it names lists that can be fetched.
    let namesLists: Bool

    /// Asks lists about a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate and its issuer.
    ///   - owners: Whose it is.
    ///   - lists: The lists.
    ///   - time: When they must be in force.
    ///   - named: The addresses of lists that it names, each with why it could not be had; `nil` for one that could.
    init(
        _ certificate: IssuedCertificate, of owners: [String], by lists: RevocationLists, at time: Timestamp,
        named: [(address: String, trouble: String?)]
    ) async {
        let der = certificate.certificate
        let fields = try? CertificateFields(walking: der)
        self.of = owners
        self.subject = PrintableText.line(DistinguishedNameText(subjectOf: der)?.description ?? "")
        self.serial = fields.flatMap { SerialNumber(contents: der[$0.serialNumber]) }
        self.issuer = try? Pin(publicKeyOf: certificate.issuer)
        self.namesLists = !named.isEmpty
        do throws(PathValidationError) {
            switch try await lists.status(of: der, issuedBy: certificate.issuer, at: time) {
            case .revoked(let revocation):
                (self.state, self.since, self.reason) = (.revoked, revocation.since, revocation.reason)
                (self.until, self.detail) = (nil, nil)
            case .good(let until):
                (self.state, self.until) = (.good, until)
                (self.since, self.reason, self.detail) = (nil, nil, nil)
            case .unknown(let obstacle):
                self.state = .unknown
                (self.since, self.reason, self.until) = (nil, nil, nil)
                self.detail = PrintableText.line(Self.words(obstacle, named), maximumLength: 512)
            }
        } catch {
            self.state = .unknown
            (self.since, self.reason, self.until) = (nil, nil, nil)
            self.detail = PrintableText.line(error.detail, maximumLength: 512)
        }
    }

    private static func words(_ obstacle: String, _ named: [(address: String, trouble: String?)]) -> String {
        let troubles = named.compactMap { name in name.trouble.map { "\(name.address): \($0)" } }
        if named.isEmpty { return "no revocation list covers it: \(obstacle), and it names none that can be fetched" }
        return "no revocation list covers it: " + (troubles.isEmpty ? [obstacle] : troubles).joined(separator: "; ")
    }

    /// Its owner and its name, in a line.
    var name: String {
        let more = self.of.count > 3 ? " and \(self.of.count - 3) more" : ""
        return "\(self.of.prefix(3).joined(separator: ", "))\(more): \(self.subject)"
    }

    /// Since when and why, in words; empty where the list says neither.
    var words: String {
        [self.reason, self.since.map { "since \($0)" }].compactMap { $0 }.joined(separator: " ")
    }

    enum CodingKeys: CodingKey { case of, subject, serial, issuer, state, since, reason, until, detail }

    /// Writes all members; `null` stands where there is nothing.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.of, forKey: .of)
        try container.encode(self.subject, forKey: .subject)
        try container.encode(self.serial?.description, forKey: .serial)
        try container.encode(self.issuer?.description, forKey: .issuer)
        try container.encode(self.state, forKey: .state)
        try container.encode(self.since?.description, forKey: .since)
        try container.encode(self.reason, forKey: .reason)
        try container.encode(self.until?.description, forKey: .until)
        try container.encode(self.detail, forKey: .detail)
    }
}
