// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The report as SARIF 2.1.0 (OASIS), as far as code-scanning pages read it.
///
/// Places are relative to the folder that the audit was started in, and have no base: what uploads it adds that.
public struct StaticAnalysisLog: Encodable {
    struct Text: Encodable {
        let text: String
    }

    struct Rule: Encodable {
        struct Configuration: Encodable {
            let level: String
        }

        let id: String
        let shortDescription: Text
        let fullDescription: Text
        let help: Text
        let defaultConfiguration: Configuration
    }

    struct Notification: Encodable {
        let level: String
        let message: Text
    }

    struct Invocation: Encodable {
        let executionSuccessful: Bool
        let exitCode: Int32
        let toolExecutionNotifications: [Notification]
    }

    struct Driver: Encodable {
        let name = "tumbler audit"
        let semanticVersion: String
        let rules: [Rule]
    }

    struct Tool: Encodable {
        let driver: Driver
    }

    struct Location: Encodable {
        struct Artifact: Encodable {
            let uri: String
        }

        struct Region: Encodable {
            let startLine: Int
        }

        struct Physical: Encodable {
            let artifactLocation: Artifact
            let region: Region
        }

        let physicalLocation: Physical
    }

    struct Suppression: Encodable {
        let kind: String
        let justification: String?
    }

    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Location]
        let partialFingerprints: [String: String]
        let suppressions: [Suppression]?
    }

    struct Run: Encodable {
        let tool: Tool
        let invocations: [Invocation]
        let results: [Result]
        let columnKind = "utf16CodeUnits"
    }

    private enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version
        case runs
    }

    let schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    let version = "2.1.0"
    let runs: [Run]

    /// Takes a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - toolVersion: The version of the tool.
    public init(_ report: AuditReport, toolVersion: String) {
        let indices = Dictionary(uniqueKeysWithValues: AuditRule.all.enumerated().map { ($0.element.id, $0.offset) })
        let rules = AuditRule.all.map { rule in
            Rule(
                id: rule.id, shortDescription: Text(text: rule.meaning), fullDescription: Text(text: rule.meaning),
                help: Text(text: rule.advice),
                defaultConfiguration: Rule.Configuration(level: rule.severity.rawValue))
        }
        let results = report.findings.map { finding in
            Result(
                ruleId: finding.rule.id, ruleIndex: indices[finding.rule.id] ?? 0, level: finding.severity.rawValue,
                message: Text(text: "\(finding.message). \(finding.rule.meaning) \(finding.rule.advice)"),
                locations: [Self.location(finding)],
                partialFingerprints: ["tumblerAudit/v1": finding.fingerprint],
                suppressions: finding.suppression.map {
                    [Suppression(kind: $0 == .allowed ? "inSource" : "external", justification: finding.reason)]
                })
        }
        let notices = report.notes.map { Notification(level: "note", message: Text(text: $0)) }
        let invocation = Invocation(
            executionSuccessful: report.exitCode != 2, exitCode: report.exitCode, toolExecutionNotifications: notices)
        self.runs = [
            Run(
                tool: Tool(driver: Driver(semanticVersion: toolVersion, rules: rules)), invocations: [invocation],
                results: results)
        ]
    }

    private static func location(_ finding: AuditFinding) -> Location {
        // A file without lines is shown at its beginning: pages leave out what has no place.
        Location(
            physicalLocation: Location.Physical(
                artifactLocation: Location.Artifact(uri: self.reference(finding.file)),
                region: Location.Region(startLine: max(1, finding.line ?? 1))))
    }

    /// A path as a reference of RFC 3986.
    static func reference(_ path: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@".utf8)
        let digits = Array("0123456789ABCDEF")
        var text = ""
        for byte in path.utf8 {
            if plain.contains(byte) {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return text.hasPrefix("/") ? "file://" + text : text
    }
}
