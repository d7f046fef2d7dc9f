// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// All that an audit found, in a fixed order, with what is allowed and what is known.
public struct AuditReport: Sendable {
    /// The findings by file, line and rule; those that are suppressed included.
    public let findings: [AuditFinding]
    /// The places that connect, by kind, file and line.
    public let surfaces: [NetworkSurface]
    /// Lines for people.
    public let notes: [String]
    /// The number of files that were audited.
    public let files: Int

    init(
        findings: [AuditFinding], surfaces: [NetworkSurface], notes: [String], files: Int,
        allowances: [String: [SourceText.Allowance]], known: Set<String>
    ) {
        var all = findings
        for (path, allowed) in allowances {
            for allowance in allowed where AuditRule.named(allowance.rule) == nil || allowance.reason.isEmpty {
                let why =
                    AuditRule.named(allowance.rule) == nil
                    ? "there is no rule \"\(allowance.rule)\"" : "\(allowance.rule) is allowed without a reason"
                all.append(AuditFinding(.allowWithoutReason, in: path, line: allowance.line, why))
            }
        }
        all.sort { Self.key($0) < Self.key($1) }
        var ordinals: [String: Int] = [:]
        for index in all.indices {
            let first = AuditFinding.fingerprint(of: all[index], ordinal: 0)
            let ordinal = ordinals[first, default: 0]
            ordinals[first] = ordinal + 1
            all[index].fingerprint = ordinal == 0 ? first : AuditFinding.fingerprint(of: all[index], ordinal: ordinal)
            if let reason = Self.reason(for: all[index], allowances[all[index].file] ?? []) {
                all[index].suppression = .allowed
                all[index].reason = reason
            } else if known.contains(all[index].fingerprint) {
                all[index].suppression = .known
            }
        }
        self.findings = all
        self.surfaces = Array(Set(surfaces)).sorted {
            ($0.kind, $0.file, $0.line ?? 0) < ($1.kind, $1.file, $1.line ?? 0)
        }
        self.notes = notes
        self.files = files
    }

    private static func key(_ finding: AuditFinding) -> (String, Int, String, String) {
        (finding.file, finding.line ?? 0, finding.rule.id, finding.message)
    }

    /// The reason for which a finding is allowed: at its line, or at the line above.
    private static func reason(for finding: AuditFinding, _ allowances: [SourceText.Allowance]) -> String? {
        guard let line = finding.line, finding.rule != .allowWithoutReason else { return nil }
        return allowances.first {
            ($0.line == line || $0.line == line - 1) && $0.rule == finding.rule.id && !$0.reason.isEmpty
        }?.reason
    }

    /// The findings that count.
    public var open: [AuditFinding] { self.findings.filter { $0.suppression == nil } }

    /// The number of counted findings of a severity.
    public func count(of severity: AuditRule.Severity) -> Int { self.open.count { $0.severity == severity } }

    /// 0 without errors, 1 with errors, 2 without errors when something could not be read, or nothing was audited.
    public var exitCode: Int32 {
        if self.count(of: .error) > 0 { return 1 }
        return self.files == 0 || self.open.contains { $0.rule == .unreadable } ? 2 : 0
    }

    /// The surfaces by their kind, with how many are pinned in which way.
    public var table: [(kind: String, counts: [NetworkSurface.Pinning: Int], first: NetworkSurface)] {
        var rows: [String: (counts: [NetworkSurface.Pinning: Int], first: NetworkSurface)] = [:]
        for surface in self.surfaces {
            var row = rows[surface.kind] ?? ([:], surface)
            row.counts[surface.pinning, default: 0] += 1
            // The first that is not pinned is the one to look at.
            if row.first.pinning != .unpinned, surface.pinning == .unpinned { row.first = surface }
            rows[surface.kind] = row
        }
        return rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value.counts, $0.value.first) }
    }
}
