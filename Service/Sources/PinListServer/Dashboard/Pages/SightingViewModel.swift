// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings

/// A certificate that was found in a log, as a page shows it. Every word of it is its author's.
struct SightingViewModel: Hashable, Sendable {
    /// The names that it is for.
    var names: [String]
    /// The issuer's name.
    var issuer: String
    /// The pin of its key.
    var key: String
    /// The log, or nothing.
    var log: String
    /// The time at which the log took it; `nil` where the monitor did not say.
    var loggedAt: Timestamp?
    /// The time at which it was handed in, and the token.
    var toldAt: Timestamp
    var toldBy: String
    /// The validity of the certificate.
    var notBefore, notAfter: Timestamp
    /// The state of the sighting.
    var state: SightingState
    /// Whether an entry that enforces decided.
    var isEnforced: Bool
    /// Whether the precertificate alone was found.
    var isPrecertificate: Bool
    /// The time at which a probe saw its key served.
    var probedAt: Timestamp?
    /// The number of networks from which reports named its key, 0 where they were not counted; `nil` where none did.
    var networks: Int64?
    /// The token of the person who has seen its alarm; `nil` when no person said so.
    var acknowledgedBy: String?

    /// The maximum number of names that are shown: its author chooses how many there are.
    static let maximumNames = 12

    /// The meaning of a state, in words.
    static func words(_ state: SightingState) -> String {
        switch state {
        case .pinned: "its key is in the list, and was seen served"
        case .backup: "its key is in the list, and was never seen served"
        case .issuer: "its issuer is in the list: apps accept it, whether you ordered it or not"
        case .denied: "its key, or its issuer's, is denied"
        case .unknown: "no key of it is in the list: apps refuse it"
        case .unlisted: "no entry covers it"
        }
    }

    /// The mark of the state.
    private var mark: Markup {
        switch self.state {
        case .pinned, .backup:
            #"<span class="state calm"><span aria-hidden="true">●</span> \#(self.state.rawValue)</span>"#
        case .issuer, .denied, .unlisted:
            #"<span class="state soon"><span aria-hidden="true">▲</span> \#(self.state.rawValue)</span>"#
        case .unknown:
            #"<span class="state now"><span aria-hidden="true">■</span> \#(self.state.rawValue)</span>"#
        }
    }

    private func seen(_ frame: PageFrame) -> Markup {
        var parts: [Markup] = []
        if let probedAt { parts.append("by a probe, \(frame.times.relative(probedAt))") }
        if let networks {
            let count = NumberText.count(Int(clamping: networks), "network", "networks")
            parts.append(networks > 0 ? "in reports from \(count) a day" : "in reports")
        }
        return parts.isEmpty ? "not seen" : Markup.join(parts, separator: "; ")
    }

    /// The view of the sighting for templates.
    func view(in frame: PageFrame) -> View {
        let names = self.names.prefix(Self.maximumNames).map { VisibleText.line($0, limit: 253) }
        let more: Markup = self.names.count > names.count ? " and \(self.names.count - names.count) more" : ""
        return View([
            "names": .markup(names.isEmpty ? "no name" : "\(Markup.join(names, separator: ", "))\(more)"),
            "issuer": .markup(VisibleText.folded(self.issuer)), "key": .markup(DigestText.short(self.key)),
            "log": .markup(VisibleText.line(self.log, limit: 128)),
            "logged": .markup(self.loggedAt.map { frame.times.full($0) } ?? "the monitor did not say when"),
            "told": .markup(frame.times.full(self.toldAt)), "by": .markup(VisibleText.line(self.toldBy, limit: 64)),
            "from": .markup(frame.times.date(self.notBefore)), "to": .markup(frame.times.date(self.notAfter)),
            "isOver": .flag(self.notAfter < frame.time), "mark": .markup(self.mark),
            "meaning": "\(Self.words(self.state))", "isPrecertificate": .flag(self.isPrecertificate),
            "seen": .markup(self.seen(frame)),
            "acknowledged": .markup(self.acknowledgedBy.map { VisibleText.line($0, limit: 64) } ?? ""),
        ])
    }
}
