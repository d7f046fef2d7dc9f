// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The report as JSON: section 12 of docs/formats.md.
public struct AuditJSON: Encodable {
    struct Finding: Encodable {
        let rule: String
        let severity: String
        let file: String
        let line: Int?
        let message: String
        let meaning: String
        let advice: String
        let fingerprint: String
        let suppressed: String?
        let reason: String?
    }

    struct Surface: Encodable {
        let kind: String
        let pinning: String
        let file: String
        let line: Int?
    }

    let version = 1
    let files: Int
    let errors: Int
    let warnings: Int
    let notes: Int
    let findings: [Finding]
    let surfaces: [Surface]
    let remarks: [String]

    /// Takes a report.
    public init(_ report: AuditReport) {
        self.files = report.files
        self.errors = report.count(of: .error)
        self.warnings = report.count(of: .warning)
        self.notes = report.count(of: .note)
        self.findings = report.findings.map {
            Finding(
                rule: $0.rule.id, severity: $0.severity.rawValue, file: $0.file, line: $0.line, message: $0.message,
                meaning: $0.rule.meaning, advice: $0.rule.advice, fingerprint: $0.fingerprint,
                suppressed: $0.suppression?.rawValue, reason: $0.reason)
        }
        self.surfaces = report.surfaces.map {
            Surface(kind: $0.kind, pinning: $0.pinning.rawValue, file: $0.file, line: $0.line)
        }
        self.remarks = report.notes
    }
}
