// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository

/// What is shown before someone signs: all of what the signature will vouch for, as far as a person can take it in.
enum SigningSummary {
    /// The most entries that are listed one by one; the digest stands for all of them.
    static let mostEntries = 100

    /// What is added to the summary of a list: how it differs from what is published.
    static let difference: @Sendable (PinList) throws(CommandFailure) -> [String] = { _ in [] }

    /// The lines.
    static func lines(of metadata: SignableMetadata) throws(CommandFailure) -> [String] {
        switch metadata.content {
        case .root(let root): return ShownRoot(root, payload: metadata.envelope.payload).lines
        case .pins(let list): return self.lines(of: list, digest: metadata.payloadDigest) + (try self.difference(list))
        }
    }

    private static func lines(of list: PinList, digest: String) -> [String] {
        var lines = [
            "list \(list.version) of \(list.name)", "issued \(list.issuedAt), expires \(list.expiresAt)",
            "payload SHA-256 \(digest)",
        ]
        lines += list.domains.prefix(self.mostEntries).map(self.line)
        if list.domains.count > self.mostEntries {
            lines.append("and \(list.domains.count - self.mostEntries) entries more")
        }
        lines += list.denied.map { "denied \($0.pin)\($0.isEnforced ? "" : " (report only)")" }
        lines += list.suspended.map { suspension in
            "suspended \(suspension.scope.text) until \(suspension.until): \(suspension.reason)"
        }
        if list.unlisted != .allow { lines.append("unlisted hosts: \(list.unlisted.rawValue)") }
        return lines
    }

    private static func line(of domain: PinList.Domain) -> String {
        let entry = domain.entry
        let name = entry.includeSubdomains ? "\(entry.domain) and below" : "\(entry.domain)"
        let share = domain.rollout < 100 ? " for \(domain.rollout) %" : ""
        let end = entry.expiresAt.map { ", until \($0)" } ?? ""
        let pins = entry.pins.map { pin in
            pin.position == .any ? "\(pin.pin)" : "\(pin.pin) (\(pin.position.rawValue))"
        }
        return "\(name): \(entry.mode.rawValue)\(share)\(end): \(pins.joined(separator: " "))"
    }
}

extension Suspension.Scope {
    fileprivate var text: String {
        switch self {
        case .everything: "everything"
        case .entry(let host): "\(host)"
        }
    }
}
