// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Foundation
import Testing

/// What the reader of a language can report, as its own source says, against the fixtures in that language.
@Suite("Each language and each form")
struct FormTests {
    /// A reader in AppAudit/Code.
    struct Reader: Sendable, CustomTestStringConvertible {
        let name: String
        /// The endings of the files that it reads.
        let endings: Set<String>

        var testDescription: String { self.name }

        var fixtures: [RuleFixture] {
            RuleFixture.all.filter { self.endings.contains(String($0.path.split(separator: ".").last ?? "")) }
        }
    }

    static let readers = [
        Reader(name: "SwiftSource", endings: ["swift"]), Reader(name: "ObjectiveCSource", endings: ["m"]),
        Reader(name: "AndroidSource", endings: ["kt", "java"]),
    ]

    /// The text of the files in a folder of AppAudit whose names begin alike.
    private static func source(_ folder: String, _ prefix: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/AppAudit/\(folder)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }
        return try names.sorted()
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
    }

    @Test("a rule that a reader reports has a fixture in its language", arguments: readers)
    func aRuleThatAReaderReportsHasAFixtureInItsLanguage(_ reader: Reader) throws {
        let declared = try Self.source("Rules", "AuditRule")
            .matches(of: #/static let (\w+) = AuditRule\(\s*"([a-z0-9-]+)"/#).map { (String($0.1), String($0.2)) }
        let rules = Dictionary(declared) { first, _ in first }
        #expect(Set(rules.values) == Set(AuditRule.all.map(\.id)))
        let named = try Self.source("Code", reader.name).matches(of: #/[(\s]\.(\w+)/#).compactMap {
            rules[String($0.1)]
        }
        // Addresses and pins are noted by what all readers share.
        let reported = Set(named + ["cleartext-url", "pin-in-source"])
        #expect(reported.subtracting(reader.fixtures.map(\.rule)) == [])
    }

    @Test("a name that a reader looks for stands in a fixture in its language", arguments: readers)
    func aNameThatAReaderLooksForStandsInAFixtureInItsLanguage(_ reader: Reader) throws {
        let asked = try Self.source("Code", reader.name).split(separator: "\n")
            .filter { $0.drop { $0 == " " }.hasPrefix("case \"") }
            .flatMap { $0.matches(of: #/"(\w\w+)"/#).map { String($0.1) } }
        #expect(asked.count > 10)
        let fixed = reader.fixtures.map { $0.fires + $0.quiet }.joined(separator: "\n")
        #expect(asked.filter { !fixed.contains($0) } == [])
    }
}
