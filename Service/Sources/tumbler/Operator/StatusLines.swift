// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListRepository

/// The status of a service as lines of text: what needs an action first.
struct StatusLines {
    /// The maximum number of lines of one kind; how many more there are is said.
    static let maximum = 20

    /// The status.
    let status: ServiceStatus

    /// The service.
    let address: ServiceAddress

    /// The lines.
    var lines: [String] {
        var lines = ["\(self.address)\(self.status.time.map { " at \(self.text($0))" } ?? "")"]
        lines += self.alarms
        for name in self.status.names.prefix(Self.maximum) { lines += self.lines(of: name) }
        if self.status.names.count > Self.maximum {
            lines.append("and \(self.status.names.count - Self.maximum) names more")
        }
        lines += self.section("failures by host", self.status.hosts.map(self.line))
        lines += self.section("failures by cause", self.status.groups.map(self.line))
        lines += self.section("probed hosts", self.status.probes.map(self.line))
        // Without a monitor there is nothing to say.
        let logged = self.status.sightings.flatMap(self.lines)
        if !logged.isEmpty { lines += self.section("certificates in logs", logged) }
        if let head = self.status.auditHead {
            let count = self.status.auditEntries.map { "\($0) entries, " } ?? ""
            lines.append("audit log: \(count)head \(self.text(head))")
        }
        return lines
    }

    private func section(_ title: String, _ entries: [String]) -> [String] {
        guard !entries.isEmpty else { return ["\(title): none"] }
        let more = entries.count > Self.maximum ? ["  and \(entries.count - Self.maximum) more"] : []
        return ["\(title):"] + entries.prefix(Self.maximum).map { "  \($0)" } + more
    }

    /// The alarms, the most urgent first, each with its one action and the page of its runbook.
    private var alarms: [String] {
        let alarms = self.status.alarms.enumerated().sorted { left, right in
            (right.element.urgency, left.offset) < (left.element.urgency, right.offset)
        }.map(\.element)
        guard !alarms.isEmpty else { return ["alarms: none"] }
        let more = alarms.count > Self.maximum ? ["  and \(alarms.count - Self.maximum) more"] : []
        return ["alarms:"] + alarms.prefix(Self.maximum).flatMap(self.lines) + more
    }

    /// The service's own sentence, the same as on its page Now and in its notifications.
    private func lines(of alarm: ServiceStatus.AlarmStatus) -> [String] {
        let since = alarm.since.map { ", since \(self.text($0))" } ?? ""
        let sentence = alarm.detail.map { PrintableText.line($0, maximumLength: 1_024) }
        var lines = [
            "  \(self.text(alarm.severity ?? "alarm")): "
                + (sentence ?? self.text(alarm.kind ?? "an alarm without a name")) + since
        ]
        if let action = alarm.action {
            lines.append("    what to do: \(PrintableText.line(action, maximumLength: 400))")
        }
        // A path of this service, and no other address.
        if let path = alarm.runbook, path.hasPrefix("/"), !path.hasPrefix("//") {
            lines.append("    runbook: \(self.text("\(self.address)\(path)"))")
        }
        return lines
    }

    private func lines(of name: PublishedNameStatus) -> [String] {
        var lines = [self.text(name.name)]
        lines.append("  list \(self.published(name.list))")
        lines.append("  root \(self.published(name.root))")
        lines.append("  adoption: \(self.words(for: name.adoption, of: name.list?.version))")
        return lines
    }

    private func published(_ item: PublishedNameStatus.Published?) -> String {
        guard let item, let version = item.version else { return "none" }
        let published = item.publishedAt.map { ", published \(self.text($0))" } ?? ""
        let expires = item.expiresAt.map { ", expires \(self.text($0))" } ?? ""
        return "\(version)\(published)\(expires)"
    }

    private func words(for adoption: PublishedNameStatus.Adoption?, of version: Int64?) -> String {
        guard let adoption, let version, let share = adoption.share(holding: version) else {
            return "not measured\(adoption?.why.map { ": \(self.text($0))" } ?? "")"
        }
        let window = adoption.window.map { " in \(SourceDuration.text($0))" } ?? ""
        let base = adoption.base.map { ", estimated from \($0) requests\(window)" } ?? ""
        let end = adoption.ninetyNine.map { "; 99 % by \(self.text($0))" } ?? ""
        return "\(Self.percent(share)) hold version \(version)\(base)\(end)"
    }

    private func line(of host: ServiceStatus.HostStatus) -> String {
        let usual = host.usual.map { ", usually \(Self.rounded($0))" } ?? ""
        return "\(self.text(host.host)): \(host.lastHour.map(String.init) ?? "?") in the last hour\(usual)"
    }

    private func line(of group: ServiceStatus.GroupStatus) -> String {
        let reason = group.reason.map { " \(self.text($0))" } ?? ""
        let cause = group.cause.map { ": \(self.text($0))" } ?? ""
        let issuer = (group.issuer ?? "").isEmpty ? "" : " Issuer: \(self.text(group.issuer ?? ""))"
        return "\(group.count.map(String.init) ?? "?") x \(self.text(group.host))\(reason)\(cause)\(issuer)"
    }

    private func line(of probe: ServiceStatus.ProbeStatus) -> String {
        let state = probe.ok.map { $0 ? "ok" : "FAILS" } ?? "?"
        let at = probe.at.map { ", at \(self.text($0))" } ?? ""
        let detail = (probe.detail ?? "").isEmpty ? "" : ": \(self.text(probe.detail ?? ""))"
        return "\(state) \(self.text(probe.host))\(detail)\(at)"
    }

    private func lines(of found: ServiceStatus.SightingStatus) -> [String] {
        let counts = found.counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !counts.isEmpty else { return [] }
        let words = counts.map { "\($0.value) \(self.text($0.key))" }.joined(separator: ", ")
        return ["\(self.text(found.name)): \(words)"]
            + (found.unexpected ?? []).map { certificate in
                let when =
                    certificate.loggedAt.map { ", logged \($0)" } ?? certificate.toldAt.map { ", told \($0)" } ?? ""
                let served = certificate.probedAt.map { ", SERVED at \($0)" } ?? ""
                return self.text(
                    "unknown key for \(certificate.host): \(certificate.key), issued by \(certificate.issuer ?? "?")"
                        + "\(when)\(served)")
            }
    }

    /// Text of a service may come from any sender of reports.
    private func text(_ text: String) -> String { PrintableText.line(text, maximumLength: 200) }

    /// A share in percent, cut off: 99.96 % is not all.
    static func percent(_ share: Double) -> String { "\(self.tenths(share * 100)) %" }

    private static func rounded(_ number: Double) -> String { self.tenths(number) }

    /// One decimal, cut off; no number where there is none.
    private static func tenths(_ number: Double) -> String {
        // A hair is added: 0.07 * 100 is a little under 7.
        guard number >= 0, number < 1e12, let tenths = Int64(exactly: (number * 10 + 1e-6).rounded(.down)) else {
            return "?"
        }
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
