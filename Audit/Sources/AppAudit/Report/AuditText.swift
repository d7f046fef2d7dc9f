// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension AuditReport {
    /// The report for people: findings with what they mean and what to do, the most urgent last, then the table.
    public var lines: [String] {
        var lines = self.notes
        var explained = Set<String>()
        for severity in AuditRule.Severity.allCases.reversed() {
            for finding in self.open where finding.severity == severity {
                let place = finding.line.map { "\(finding.file):\($0)" } ?? finding.file
                lines.append("\(place): \(severity.rawValue): \(finding.message) [\(finding.rule.id)]")
                // Once is enough for each rule.
                guard explained.insert(finding.rule.id).inserted else { continue }
                lines.append("    \(finding.rule.meaning)")
                lines.append("    \(finding.rule.advice)")
            }
        }
        if !lines.isEmpty { lines.append("") }
        lines += self.tableLines
        lines.append("")
        lines.append(self.summary)
        return lines
    }

    /// The last line.
    public var summary: String {
        let allowed = self.findings.count { $0.suppression == .allowed }
        let known = self.findings.count { $0.suppression == .known }
        let counts = AuditRule.Severity.allCases.map { severity in
            let count = self.count(of: severity)
            return "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        let rest = (allowed > 0 ? ", \(allowed) allowed" : "") + (known > 0 ? ", \(known) known" : "")
        return "\(self.files) files: \(counts.joined(separator: ", "))\(rest)"
    }

    private var tableLines: [String] {
        guard !self.surfaces.isEmpty else { return ["No networking surface was found."] }
        var rows = [["surface", "pinned", "own code", "unknown", "unpinned", "look at"]]
        for row in self.table {
            let place = row.first.line.map { "\(row.first.file):\($0)" } ?? row.first.file
            rows.append([row.kind] + NetworkSurface.Pinning.allCases.map { String(row.counts[$0] ?? 0) } + [place])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                // Numbers to the right.
                return (1...4).contains(column)
                    ? padding + row[column] : column == 5 ? row[column] : row[column] + padding
            }.joined(separator: "  ")
        }
    }
}
