// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The decision as text for people: the question, the expected pins and the pins that were seen, certificate by
/// certificate.
extension PinningDecision: CustomStringConvertible {
    /// Several lines without a last line break. The first is the verdict and stands alone.
    public var description: String {
        let verdict = "\(PrintableText.line(self.host)): \(self.verdict.rawValue) (\(self.reason))."
        var lines = [([verdict, self.sentence] + self.reportedFindings).joined(separator: " ")]
        if let detail { lines.append("  \(PrintableText.line(detail))") }
        if let entry, !entry.pins.isEmpty {
            let list = self.list.map { ", list \(PrintableText.line($0.name)) version \($0.version)" } ?? ""
            lines.append("  Expected for \(entry.domain)\(list):")
            for known in entry.pins {
                let position = known.position == .any ? "" : "  \(known.position.rawValue)"
                lines.append("    \(known.pin)\(position)\(known.note.map { "  \(PrintableText.line($0))" } ?? "")")
            }
        }
        if !self.path.certificates.isEmpty {
            lines.append("  Seen, leaf first:")
            for (index, certificate) in self.path.certificates.enumerated() {
                let pin = self.path.publicKeyPins[index]?.description ?? "(a certificate that cannot be read)"
                let subject = DistinguishedNameText(subjectOf: certificate)?.description ?? ""
                lines.append("    \(pin)  \(subject)\(self.mark(at: index))")
            }
        }
        if let transparency { lines += ["  Transparency:"] + transparency.lines.map { "    \($0)" } }
        return lines.joined(separator: "\n")
    }

    private func mark(at index: Int) -> String {
        if self.denied?.index == index { return "  <- denied" }
        if self.revoked?.index == index { return "  <- revoked" }
        return [self.matched?.index, self.matchedIssuer?.index].contains(index) ? "  <- matches" : ""
    }

    /// The sentences about what is denied or revoked and only reported: the reason does not name it.
    private var reportedFindings: [String] {
        guard self.verdict == .allow else { return [] }
        return [
            self.denied.map { _ in "A key of the path is denied; this is only reported." },
            self.revoked.map { _ in "A certificate of the path is revoked; this is only reported." },
        ].compactMap { $0 }
    }

    private var sentence: String {
        switch self.reason {
        case .pinMatch: "A certificate of the validated path matches a pin."
        case .noMatchingPin where self.entry?.pins.isEmpty == true && self.list?.stale == true:
            "The list has expired, and the app refuses the hosts of its entries until it gets a newer one."
        case .noMatchingPin where self.isEnforced: "No certificate of the validated path matches a pin."
        case .noMatchingPin: "No certificate of the validated path matches a pin; this is only reported."
        case .hostInvalid: "The host is not a valid host name."
        case .deniedKey: "A key of the validated path is denied."
        case .deniedUndecidable: "A certificate cannot be read: it may be one that is denied or revoked."
        case .revoked: "A certificate of the validated path is revoked."
        case .revocationUnknown: "No revocation list that was given covers a certificate of the validated path."
        case .suspended: "Pinning is suspended for this host; the deny set and revocations stay in force."
        case .notPinned: "This host is not pinned; default validation decided."
        case .transparency where self.verdict == .allow:
            "The certificate was not shown to be logged as the policy asks; this is only reported."
        case .transparency: "The certificate was not shown to be logged as the policy asks."
        case .unlistedReported: "No entry covers this host; this is reported."
        case .unlistedDenied: "No entry covers this host, and the list denies such hosts."
        case .domainExpired: "The entry has expired; default validation decided."
        case .chainInvalid: "The presented chain does not validate."
        case .noCertificates: "The server presented no certificate."
        case .overBudget: "Validating the presented chain takes more work than is allowed."
        case .cleartext: "A request without TLS to a pinned host."
        case .otherHostConnection: "The answer came over a connection that was not evaluated for this host."
        case .tampering: "The app refuses pinned connections because it noticed signs of tampering with its process."
        case .malformed: "The question could not be read."
        default: "This version does not know the reason."
        }
    }
}

/// The decision as JSON (formats.md, section 4): absent values are `null`, so that every decision has the same members.
/// Only `detail`, `denied`, `revoked` and `transparency` are left out when they are absent.
extension PinningDecision: Encodable {
    enum CodingKeys: CodingKey {
        case host, notedHostname, verdict, enforced, reason, matched, matchedIssuer, path, list, detail, denied,
            revoked, transparency
    }

    /// Writes the members of formats.md, section 4.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.host, forKey: .host)
        try container.encode(self.entry?.domain.description, forKey: .notedHostname)
        try container.encode(self.verdict, forKey: .verdict)
        try container.encode(self.isEnforced, forKey: .enforced)
        try container.encode(self.reason.description, forKey: .reason)
        try container.encode(self.matched, forKey: .matched)
        try container.encode(self.matchedIssuer, forKey: .matchedIssuer)
        try container.encode(self.path.publicKeyPins.map { $0?.description }, forKey: .path)
        try container.encode(self.list, forKey: .list)
        try container.encodeIfPresent(self.detail, forKey: .detail)
        try container.encodeIfPresent(self.denied, forKey: .denied)
        try container.encodeIfPresent(self.revoked, forKey: .revoked)
        try container.encodeIfPresent(self.transparency, forKey: .transparency)
    }
}
