// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A certificate of a report in readable form. Its content is untrusted: the other end of the connection wrote it.
struct SeenCertificate: Hashable, Sendable {
    /// The subject in one line; empty when it has none or cannot be read.
    var subject: String
    /// The issuer in one line.
    var issuer: String
    /// Names and addresses that it is for.
    var names: [String]
    /// Its validity; `nil` when it cannot be read.
    var validity: ClosedRange<Timestamp>?
    /// The pin of its key; `nil` when it cannot be read.
    var pin: String?
    /// Whether the list names that pin for this host.
    var isPinned: Bool
    /// The algorithm of its key, such as `P-256`, when it is known.
    var key: String
    /// The host that it was presented for, and that it does not name; `nil` where it names it, or is an issuer's.
    var otherHost: String? = nil
    /// The certificate as it was reported.
    var pem: String

    /// The maximum number of names that are shown, as many as are read of it.
    static let maximumNames = 32

    /// The view of the certificate for templates.
    func view(_ position: Int, in frame: PageFrame) -> View {
        let names = self.names.prefix(Self.maximumNames).map { VisibleText.line($0, limit: 128) }
        let more: Markup = self.names.count > names.count ? " and \(self.names.count - names.count) more" : ""
        let isExpired = self.validity.map { !$0.contains(frame.time) } ?? false
        return View([
            "position": position == 0 ? "Leaf" : "Issuer \(position)",
            "subject": .markup(self.subject.isEmpty ? "no subject" : VisibleText.folded(self.subject)),
            "issuer": .markup(self.issuer.isEmpty ? "no issuer" : VisibleText.folded(self.issuer)),
            "names": .markup(names.isEmpty ? "none" : "\(Markup.join(Array(names), separator: ", "))\(more)"),
            "validity": .markup(
                self.validity.map {
                    "\(frame.times.date($0.lowerBound)) to \(frame.times.date($0.upperBound))"
                } ?? "cannot be read"),
            "otherHost": .markup(self.otherHost.map { VisibleText.line($0, limit: 253) } ?? ""),
            "expired": isExpired ? "not valid now" : "", "key": .markup(VisibleText.line(self.key, limit: 48)),
            "pin": .markup(self.pin.map { DigestText.whole($0) } ?? "cannot be read"),
            "isPinned": .flag(self.isPinned), "pem": .markup(VisibleText.block(self.pem)), "id": "pem-\(position)",
        ])
    }
}
