// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// A finding of an audit.
public struct AuditFinding: Hashable, Sendable {
    /// The reason for which a finding is not counted.
    public enum Suppression: String, Hashable, Sendable {
        /// `tumbler:allow` at the line.
        case allowed
        /// It stands in the baseline.
        case known
    }

    /// The rule that was broken.
    public let rule: AuditRule
    /// The severity at this place.
    public let severity: AuditRule.Severity
    /// The file, relative to what was asked for; in an archive `App.ipa/Payload/…`.
    public let file: String
    /// The line, from 1 on; `nil` where the file has none.
    public let line: Int?
    /// The text of the finding, in one sentence without a full stop.
    public let message: String
    /// The line's text, without blanks around it: what a baseline knows it by.
    let context: String
    /// The fingerprint that tells this finding from others like it, wherever the file's lines move to; set by the
    /// report.
    public internal(set) var fingerprint = ""
    /// The reason for which it is not counted.
    public internal(set) var suppression: Suppression?
    /// The reason that `tumbler:allow` gives.
    public internal(set) var reason: String?

    init(
        _ rule: AuditRule, _ severity: AuditRule.Severity? = nil, in file: String, line: Int? = nil,
        context: String = "", _ message: String
    ) {
        self.rule = rule
        self.severity = severity ?? rule.severity
        self.file = file
        self.line = line
        self.message = message
        self.context = context
    }

    /// A hash of the rule, the file, the line's text and how many there are like it before.
    static func fingerprint(of finding: AuditFinding, ordinal: Int) -> String {
        let what = finding.context.isEmpty ? finding.message : finding.context
        let text = [finding.rule.id, finding.file, what, String(ordinal)].joined(separator: "\u{0}")
        return String(
            SHA256.hash(data: Array(text.utf8)).prefix(16).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined())
    }
}

/// A place where an app makes connections.
public struct NetworkSurface: Hashable, Sendable {
    /// Whether pins are checked there.
    public enum Pinning: String, Hashable, Sendable, CaseIterable {
        /// By Tumbler, TrustKit, or what of a library pins.
        case pinned
        /// By code of the app, which looks at certificates or keys; whether it is right is not known.
        case ownCode = "own-code"
        /// Not seen: a delegate from elsewhere, a binary.
        case unknown
        /// Nothing pins it, or the system evaluates alone.
        case unpinned
    }

    /// The kind of connection, as a developer calls it: `URLSession`.
    public let kind: String
    /// Whether pins are checked there.
    public let pinning: Pinning
    /// The file.
    public let file: String
    /// The line, from 1 on.
    public let line: Int?

    init(_ kind: String, _ pinning: Pinning, in file: String, line: Int?) {
        self.kind = kind
        self.pinning = pinning
        self.file = file
        self.line = line
    }
}
