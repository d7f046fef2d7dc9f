// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A rule that a list breaks, and where.
public struct LintFinding: Hashable, Sendable {
    /// The rule.
    public let rule: LintRule

    /// The subject of the finding: a domain, `list`, `root`, a denied pin.
    public let subject: String

    /// The detail, where there is more to say; without a full stop.
    public let detail: String?

    /// The position in the source, for a list from a source.
    public let position: SourcePosition?

    /// States a finding.
    init(_ rule: LintRule, _ subject: String, _ detail: String? = nil, at position: SourcePosition? = nil) {
        self.rule = rule
        self.subject = subject
        self.detail = detail
        self.position = position
    }

    /// One line: place, severity, rule, what and why. ``LintRule/fix`` is the line after it.
    public var line: String {
        let place = self.position.map { "\($0): " } ?? ""
        let detail = self.detail.map { " (\($0))" } ?? ""
        return "\(place)\(self.rule.severity.rawValue): \(self.rule.id): \(self.subject)\(detail): \(self.rule.reason)"
    }
}

extension LintFinding: Encodable {
    private enum CodingKeys: CodingKey {
        case rule, severity, subject, detail, reason, fix, file, line, column
    }

    /// Encodes what `lint --json` prints of each finding.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.rule.id, forKey: .rule)
        try container.encode(self.rule.severity, forKey: .severity)
        try container.encode(self.subject, forKey: .subject)
        try container.encode(self.detail, forKey: .detail)
        try container.encode(self.rule.reason, forKey: .reason)
        try container.encode(self.rule.fix, forKey: .fix)
        try container.encode(self.position?.file, forKey: .file)
        try container.encode(self.position?.line, forKey: .line)
        try container.encode(self.position?.column, forKey: .column)
    }
}
