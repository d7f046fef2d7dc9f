// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository

/// The answer of `tumbler revocations` (formats.md, section 8).
struct RevocationAnswer: Encodable, Sendable {
    /// The time at which it was asked.
    let at: Timestamp
    /// The finding on each certificate, in the order in which they came.
    let findings: [RevocationFinding]
    /// The number of revocation lists that were read.
    let lists: Int
    /// The certificates and lists that could not be had, each a line.
    let troubles: [String]

    /// Puts together what was found.
    init(_ asked: AskedCertificates, _ outcome: RevocationListRequest.Outcome, at time: Timestamp) {
        self.at = time
        self.findings = asked.certificates.compactMap { outcome.findings[$0] }
        self.lists = outcome.count
        self.troubles = (asked.troubles + outcome.troubles).map { PrintableText.line($0, maximumLength: 512) }
    }

    /// Whether something is revoked.
    var isRevoked: Bool { self.findings.contains { $0.state == .revoked } }

    /// Whether something could not be decided.
    var isUndecided: Bool { !self.troubles.isEmpty || self.findings.contains { $0.state == .unknown } }

    /// The revoked certificates as entries of a list: one for each issuer and note. What a list cannot name is left
    /// out.
    var entries: [RevokedCertificates] {
        var entries: [RevokedCertificates] = []
        for finding in self.findings where finding.state == .revoked {
            guard let issuer = finding.issuer, let serial = finding.serial else { continue }
            let note = finding.words.isEmpty ? nil : finding.words
            if let place = entries.firstIndex(where: { $0.issuer == issuer && $0.note == note }) {
                if !entries[place].serials.contains(serial) { entries[place].serials.append(serial) }
            } else if !entries.contains(where: { $0.issuer == issuer && $0.serials.contains(serial) }) {
                entries.append(RevokedCertificates(issuer: issuer, serials: [serial], note: note))
            }
        }
        return entries
    }

    /// The lines for people: YAML, with all that is no line of `revoked` in comments.
    ///
    /// - Parameter known: The project's source; `nil` where there is none.
    func lines(known: RevokedEdit?) -> [String] {
        var lines: [String] = []
        for finding in self.findings where finding.state == .revoked {
            let words = finding.words.isEmpty ? "" : " (\(finding.words))"
            lines.append("\(finding.name): revoked\(words)")
            if finding.serial == nil || finding.issuer == nil {
                lines.append(
                    "no list can name it: its serial number or its issuer's key is of another form; deny its key")
            }
        }
        lines += self.findings.filter { $0.state == .unknown }.map { "\($0.name): \($0.detail ?? "")" }
        let entries = self.entries
        let missing = known?.missing(entries) ?? entries
        if missing.count < entries.count { lines.append("of these, what is not below is in tumbler.yaml already") }
        lines.append(self.sum)
        return lines.map { "# \(PrintableText.line($0, maximumLength: 1_024))" } + RevokedEdit.lines(missing)
    }

    private var sum: String {
        func count(_ state: RevocationFinding.State) -> Int { self.findings.count { $0.state == state } }
        let certificates = "\(self.findings.count) certificate\(self.findings.count == 1 ? "" : "s")"
        let lists = "\(self.lists) revocation list\(self.lists == 1 ? "" : "s")"
        return "\(certificates), \(lists): \(count(.revoked)) revoked, "
            + "\(count(.good)) good, \(count(.unknown)) not decidable"
    }

    enum CodingKeys: CodingKey { case at, certificates, lists, revoked, troubles }

    private struct Entry: Encodable {
        let issuer: String
        let serials: [String]
        let note: String?
    }

    /// Writes what was found, and the entries of `revoked`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.at.description, forKey: .at)
        try container.encode(self.findings, forKey: .certificates)
        try container.encode(self.lists, forKey: .lists)
        try container.encode(
            self.entries.map {
                Entry(issuer: $0.issuer.description, serials: $0.serials.map(\.description), note: $0.note)
            }, forKey: .revoked)
        try container.encode(self.troubles, forKey: .troubles)
    }
}
