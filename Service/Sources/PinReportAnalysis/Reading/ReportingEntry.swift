// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// An entry of the Reporting API: `{"type", "age", "url", "user_agent", "body"}` (`application/reports+json`).
///
/// Of a browser's page address only host and port are read, and nothing of what names the browser or the person.
enum ReportingEntry {
    /// The oldest entry, in milliseconds, whose age says anything: a year.
    private static let maximumAge: Int64 = 31_536_000_000

    /// The report in an entry; `nil` when it is about something else.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - now: The time of arrival.
    ///   - noted: The domain of the published entry that applies to a host.
    static func report(
        _ entry: ReportMembers, at now: Timestamp, _ noted: (HostName) -> String?
    ) throws(ReportError) -> CollectedReport? {
        guard let type = try entry.text("type"), let body = try entry.object("body") else {
            throw ReportError(
                .notReport, "\(entry.place) has no type or no body; an array holds entries of the Reporting API")
        }
        let age = try entry.integer("age", in: 0...(.max))
        let time = age.flatMap { $0 <= Self.maximumAge ? ReportedTime.within(now.secondsSince1970 - $0 / 1_000) : nil }
        if type == "network-error" {
            guard let error = try body.text("type"), error.hasPrefix("tls.") else { return nil }
            let (host, port) = Self.host(of: try entry.text("url") ?? "")
            return CollectedReport(networkError: error, host: host, port: port, at: time, noted)
        }
        // Key pinning never became a type of this API; the senders of such bodies give it names of their own.
        guard body.has("hostname"), Self.marks.contains(where: { body.has($0) }) else { return nil }
        var report = try CollectedReport(body, noted)
        if report.claimedTime == nil { report.claimedTime = time }
        return report
    }

    /// The members that only a report about pins has beside its host.
    private static let marks = [
        "known-pins", "served-certificate-chain", "validated-certificate-chain", "validation-result", "tumbler",
    ]

    /// The host and the port of an address; the text itself where it has none.
    private static func host(of url: String) -> (host: String, port: Int?) {
        var text = Substring(url)
        var port: Int?
        for (scheme, number) in [("https://", 443), ("http://", 80)] where text.utf8.starts(with: scheme.utf8) {
            text = text.dropFirst(scheme.count)
            port = number
        }
        guard port != nil else { return ("", nil) }
        // RFC 3986, section 3.2; browsers take a backslash for a slash.
        text = text.prefix { !"/?#\\".contains($0) }
        if let at = text.lastIndex(of: "@") { text = text[text.index(after: at)...] }
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            port = Int(text[text.index(after: colon)...]).flatMap { (0...65_535).contains($0) ? $0 : nil } ?? port
            text = text[..<colon]
        }
        return (String(text), port)
    }
}
