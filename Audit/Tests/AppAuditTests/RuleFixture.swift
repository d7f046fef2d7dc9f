// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import CertificatePinning
import PinListMetadata
import Testing

/// A file that a rule fires on, and one like it that it stays silent about.
struct RuleFixture: Sendable, CustomTestStringConvertible {
    let rule: String
    let path: String
    let fires: String
    let quiet: String

    var testDescription: String { "\(self.rule), \(self.path)" }

    init(_ rule: String, _ path: String, fires: String, quiet: String) {
        self.rule = rule
        self.path = path
        self.fires = fires
        self.quiet = quiet
    }

    /// All of them.
    static let all =
        Self.swift + Self.swiftForms + Self.objectiveC + Self.objectiveCForms + Self.others + Self.androidForms
        + Self.files

    /// The rules that fire on files.
    static func findings(
        _ files: [(String, [UInt8])], list: PinList? = nil, at time: Timestamp = auditTime
    ) -> [AuditFinding] {
        Self.report(files, list: list, at: time).findings
    }

    /// The report of files.
    static func report(
        _ files: [(String, [UInt8])], list: PinList? = nil, at time: Timestamp = auditTime, known: Set<String> = []
    ) -> AuditReport {
        var auditor = Auditor(list: list, at: time)
        for (path, bytes) in files {
            if let kind = Auditor.Kind(name: path) { auditor.add(path, kind, bytes) }
        }
        return auditor.report(known: known)
    }

    /// The rules that fire on a file.
    static func rules(_ path: String, _ text: String) -> [String] {
        Self.findings([(path, Array(text.utf8))]).map(\.rule.id)
    }
}

/// 2026-11-23, noon.
let auditTime = Timestamp(secondsSince1970: 1_795_435_200)

/// A property list around some lines.
func propertyList(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    \(body)
    </dict></plist>
    """
}

/// App Transport Security around some lines.
func transport(_ body: String) -> String {
    propertyList("<key>NSAppTransportSecurity</key><dict>\n\(body)\n</dict>")
}

/// An exception of App Transport Security.
func exception(_ body: String) -> String {
    transport("<key>NSExceptionDomains</key><dict><key>old.acme.com</key><dict>\n\(body)\n</dict></dict>")
}

/// A network security configuration around some lines.
func networkSecurity(_ body: String) -> String {
    "<network-security-config>\n\(body)\n</network-security-config>"
}
