// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository

/// The result of a probe, for people: a line for each host, and below it what else there is to know.
struct ProbeLines {
    /// The report.
    let report: ProbeReport

    /// The time before the end of a certificate at which it is said, in seconds.
    let notice: Int64

    /// The lines; the last one counts.
    var lines: [String] {
        let hosts = self.report.hosts
        let width = hosts.map(\.host.description.count).max() ?? 0
        var lines = hosts.flatMap { host in
            [self.line(of: host, width: width)] + self.details(of: host).map { "        \($0)" }
        }
        lines.append(
            self.report.held?.line
                ?? "this list alone was looked at: those that installations hold are known in its project")
        lines += (self.report.held?.missing ?? []).map { "not in lists/, so not looked at: \($0)" }
        lines.append(self.sum)
        return lines
    }

    private func line(of host: ProbedHost, width: Int) -> String {
        let state = self.padded(self.word(for: host.state), 6)
        let days = self.padded(host.daysLeft.map { "\($0) d" } ?? "-", 6)
        return "\(state)  \(self.padded(host.host.description, width))  \(days)  \(self.verdict(of: host))"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func word(for state: ProbedHost.State) -> String {
        switch state {
        case .well: "ok"
        case .locksOut: "FAILS"
        case .endsSoon: "ENDS"
        case .revoked: "REVOKED"
        case .unknown: "?"
        }
    }

    private func verdict(of host: ProbedHost) -> String {
        guard let decision = host.decision else { return "could not be asked: \(host.error ?? "")" }
        var words = "\(decision.reason)"
        if let match = decision.matched {
            let note = host.entry?.pins.first { $0.pin == match.pin }?.note
            let named = note.map { " (\(PrintableText.line($0, maximumLength: 64)))" } ?? ""
            words += " \(match.pin)\(named) at the \(Self.place(match.index, of: host.path.count))"
        }
        if let error = host.error { words += ": \(error)" }
        return words
    }

    private func details(of host: ProbedHost) -> [String] {
        var details: [String] = []
        if !host.path.isEmpty {
            let parts = host.path.enumerated().map { index, certificate in
                let days = certificate.daysLeft(at: self.report.at).map { "\($0) d" } ?? "end unknown"
                return "\(Self.place(index, of: host.path.count)) \(days)"
            }
            details.append("left: \(parts.joined(separator: ", "))")
        }
        if host.state == .endsSoon {
            let ending = host.path.filter { certificate in
                certificate.notAfter.map { end in
                    end.secondsSince1970 - self.report.at.secondsSince1970 <= self.notice
                } ?? true
            }
            details += ending.map {
                "\($0.subject) ends \($0.notAfter?.description ?? "at a time that cannot be read")"
            }
        }
        if host.state == .locksOut, let leaf = host.path.first {
            details.append("served: \(leaf.pin ?? "a key that cannot be read")  \(leaf.subject), by \(leaf.issuer)")
        }
        return details + host.notes.map { PrintableText.line($0) }
    }

    private static func place(_ index: Int, of count: Int) -> String {
        index == 0 ? "leaf" : index == count - 1 ? "anchor" : "issuer"
    }

    private var sum: String {
        func count(_ state: ProbedHost.State) -> Int { self.report.hosts.count { $0.state == state } }
        return "\(self.report.name) version \(self.report.version): \(count(.well)) ok, \(count(.locksOut)) fail, "
            + "\(count(.endsSoon)) end within \(SourceDuration.text(self.notice)), \(count(.unknown)) not asked"
            + (count(.revoked) > 0 ? ", \(count(.revoked)) revoked" : "")
    }
}
