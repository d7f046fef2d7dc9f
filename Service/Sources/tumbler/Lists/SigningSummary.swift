// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListDifference
import PinListMetadata
import PinListRepository

/// The summary that is shown before a person signs: all of what the signature will vouch for, as far as a person can
/// take it in.
enum SigningSummary {
    /// The maximum number of entries that are listed one by one; the digest stands for all of them.
    static let maximumEntries = 100

    /// The lines.
    ///
    /// - Parameters:
    ///   - metadata: The metadata to sign.
    ///   - published: The list that clients have; how the new one differs is said as well.
    static func lines(of metadata: SignableMetadata, published: PinList?) -> [String] {
        switch metadata.content {
        case .root(let root): RootDescription(root, payload: metadata.envelope.payload).lines
        case .pins(let list):
            self.lines(of: list, digest: metadata.payloadDigest) + self.difference(from: published, to: list)
        }
    }

    /// The differences of a list from what is published.
    static func difference(from published: PinList?, to list: PinList) -> [String] {
        guard let published else { return ["nothing is published yet, so there is nothing to compare with"] }
        let difference = ListDifference(old: published, new: list)
        guard !difference.isEmpty else { return ["the same as version \(published.version)"] }
        let renewal = difference.isRenewal ? " only dates change" : ""
        return ["against version \(published.version), which is published:\(renewal)"]
            + difference.lines.map { "  \($0)" }
    }

    private static func lines(of list: PinList, digest: String) -> [String] {
        var lines = [
            "list \(list.version) of \(list.name)", "issued \(list.issuedAt), expires \(list.expiresAt)",
            "payload SHA-256 \(digest)",
        ]
        lines += list.reportTo.map { "failures are reported to \($0)" }
        if let share = self.share(list.reportPerMillion) { lines.append(share) }
        if let logs = list.logs { lines.append("log list SHA-256 \(logs.digest)") }
        lines += list.domains.prefix(self.maximumEntries).flatMap { self.lines(of: $0) }
        if list.domains.count > self.maximumEntries {
            lines.append("and \(list.domains.count - self.maximumEntries) entries more")
        }
        lines += list.denied.map { "denied \($0.pin)\($0.isEnforced ? "" : " (report only)")" }
        lines += list.revoked.flatMap { entry -> [String] in
            let issuer = "revoked of \(entry.issuer)\(entry.isEnforced ? "" : " (report only)")"
            return self.parts(of: entry.serials.map(\.description)).map { "\(issuer): \($0)" }
        }
        lines += list.suspended.map { suspension in
            "suspended \(suspension.scope) until \(suspension.until): \(suspension.reason)"
        }
        if list.unlisted != .allow { lines.append("unlisted hosts: \(list.unlisted.rawValue)") }
        let unknown = list.unusablePinCount + list.unknownTransparencyCount
        if unknown > 0 {
            lines.append(
                "not shown, because this version does not know their form: \(unknown) pins or demands, which newer "
                    + "clients may know")
        }
        return lines
    }

    /// The maximum number of pins or serial numbers in a line: ``StandardError`` cuts long lines off.
    private static let maximumInLine = 8

    private static func parts(of texts: [String]) -> [String] {
        stride(from: 0, to: texts.count, by: self.maximumInLine).map { start in
            texts[start..<min(start + self.maximumInLine, texts.count)].joined(separator: " ")
        }
    }

    private static func lines(of domain: PinList.Domain) -> [String] {
        let entry = domain.entry
        let name = entry.includeSubdomains ? "\(entry.domain) and below" : "\(entry.domain)"
        let share = domain.rollout < 100 ? " for \(domain.rollout) %" : ""
        let end = entry.expiresAt.map { ", until \($0)" } ?? ""
        let issuer = entry.requireIssuer ? ", a key and its issuer" : ""
        let pins = self.parts(
            of: entry.pins.map { pin in
                pin.position == .any ? "\(pin.pin)" : "\(pin.pin) (\(pin.position.rawValue))"
            })
        let reports = domain.reportPerMillion.flatMap { self.share($0) }.map { "; \($0)" } ?? ""
        let first = "\(name): \(entry.mode.rawValue)\(share)\(end)\(issuer): \(pins.first ?? "")\(reports)"
        var lines = [first] + pins.dropFirst().map { "\(name): and \($0)" }
        lines += entry.reportTo.map { "\(name): failures are reported to \($0)" }
        if let rule = entry.transparency {
            lines.append("\(name): Certificate Transparency \(rule.mode.rawValue) \(rule.policy.rawValue)")
        }
        return lines
    }

    /// The share of installations that report failures, in words; `nil` where all do.
    static func share(_ perMillion: Int64) -> String? {
        perMillion == MetadataLimits.reportPerMillion.upperBound
            ? nil : "\(perMillion) of a million installations report failures"
    }
}

/// The consent of the user of a command to what it is about to sign.
enum SigningConsent {
    /// Makes sure that there is a terminal to ask at.
    ///
    /// - Parameter hint: The hint where there is none.
    /// - Throws: ``CommandError`` in a pipe.
    static func expectTerminal(hint: String = "--yes signs without asking") throws(CommandError) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandError(
                .usage, "there is no terminal here to confirm the signature",
                hint: hint)
        }
    }

    /// Reads the answer to a question on the terminal; without white space around it.
    static func answer(_ question: String) -> String {
        StandardError.question(question)
        return readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
    }

    /// Asks a question on the terminal; anything but yes is no.
    static func ask(_ question: String) -> Bool {
        StandardError.question("\(question) [yes/no] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "yes" || answer == "y"
    }
}
