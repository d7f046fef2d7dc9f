// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Foundation
import Testing

@Suite("Files on disk")
struct TreeTests {
    /// A folder that is gone after the test.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func write(_ text: String, _ path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func report(_ path: String, tests: Bool = false) -> AuditReport {
        var auditor = Auditor(list: nil, at: auditTime)
        var tree = FileTree(includesTests: tests)
        #expect(tree.walk(path, into: &auditor))
        tree.finish(&auditor)
        return auditor.report()
    }

    @Test("links to themselves, to a folder above and out of the tree are lines, and the rest is audited")
    func linksToThemselvesAreLines() throws {
        try self.withFolder { folder in
            try self.write("let a = WKWebView()", folder + "/A.swift")
            for (name, target) in [("self", "self"), ("up", ".."), ("inside", "A.swift"), ("out", "/etc")] {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
            }
            let report = self.report(folder)
            #expect(report.findings.map(\.rule.id) == ["surface-wkwebview"])
            #expect(report.notes.count == 3)
        }
    }

    @Test("a source, an archive and a program of over a gigabyte are findings and are not read whole")
    func filesOfOverAGigabyteAreFindings() throws {
        try self.withFolder { folder in
            try self.write("let a = WKWebView()", folder + "/A.swift")
            for name in ["Huge.swift", "Huge.ipa", "Huge.plist"] {
                try self.write("", "\(folder)/\(name)")
                let file = try #require(FileHandle(forWritingAtPath: "\(folder)/\(name)"))
                // Sparse: it takes no place on the disk.
                try file.truncate(atOffset: 1 << 30)
                try file.close()
            }
            // A program has no ending, and begins as one.
            try Data(BuiltApp.program()).write(to: URL(fileURLWithPath: "\(folder)/Huge"))
            let program = try #require(FileHandle(forWritingAtPath: "\(folder)/Huge"))
            try program.truncate(atOffset: 1 << 30)
            try program.close()
            let report = self.report(folder)
            #expect(report.findings.count { $0.rule.id == "unreadable" } == 4)
            #expect(report.findings.contains { $0.rule.id == "surface-wkwebview" })
            #expect(report.exitCode == 2)
        }
    }

    @Test("what a folder lists and the system says nothing of is a finding")
    func whatAFolderListsAndTheSystemSaysNothingOfIsAFinding() throws {
        try self.withFolder { folder in
            // A path that is longer than the system takes: to root no folder is closed.
            let levels = 17
            func path(_ level: Int, _ name: String) -> String {
                folder + String(repeating: "/a", count: level - 1) + "/" + name
            }
            func rename(_ level: Int, _ name: String, _ other: String) throws {
                try FileManager.default.moveItem(atPath: path(level, name), toPath: path(level, other))
            }
            let long = String(repeating: "a", count: 240)
            try self.write("let a = WKWebView()", path(levels + 1, "A.swift"))
            try self.write("let a = 1", folder + "/A.swift")
            for level in (1...levels).reversed() { try rename(level, "a", long) }
            let report = self.report(folder)
            // No command removes it before.
            for level in 1...levels { try rename(level, long, "a") }
            #expect(report.findings.map(\.rule.id) == ["unreadable"])
            #expect(report.exitCode == 2)
            #expect(self.report(folder).findings.map(\.rule.id) == ["surface-wkwebview"])
        }
    }

    @Test("tests are left out, and that is said, unless they are asked for")
    func testsAreLeftOut() throws {
        try self.withFolder { folder in
            try self.write("let a = WKWebView()", folder + "/AppTests/A.swift")
            #expect(self.report(folder).findings.isEmpty)
            #expect(self.report(folder).notes.count == 1)
            #expect(self.report(folder, tests: true).findings.count == 1)
        }
    }

    @Test("a folder without anything to audit does not pass: it may be the wrong one")
    func aFolderWithoutAnythingToAuditDoesNotPass() throws {
        try self.withFolder { folder in
            #expect(self.report(folder).exitCode == 2)
            try self.write("no program", folder + "/picture.png")
            try self.write("<paths/>", folder + "/res/xml/file_paths.xml")
            try self.write("{}", folder + "/package.json")
            #expect(self.report(folder).exitCode == 2)
            // Folders of tests alone are nothing either, until they are asked for.
            try self.write("let a = 1", folder + "/AppTests/A.swift")
            #expect(self.report(folder).exitCode == 2)
            #expect(self.report(folder, tests: true).exitCode == 0)
        }
    }

    @Test("a network security configuration is found by what it is, whatever name the manifest gives it")
    func aNetworkSecurityConfigurationIsFoundByWhatItIs() throws {
        try self.withFolder { folder in
            let cleartext = networkSecurity("<base-config cleartextTrafficPermitted=\"true\"/>")
            let names = ["res/xml/pins.xml", "res/xml-v24/pins.xml", "res/xml/network.xml"]
            for name in names { try self.write(cleartext, "\(folder)/\(name)") }
            // What is no such configuration is not read, well-formed or not.
            for (name, text) in [("res/xml/file_paths.xml", "<paths>"), ("res/layout/pins.xml", cleartext)] {
                try self.write(text, "\(folder)/\(name)")
            }
            let found = self.report(folder).findings
            #expect(found.map(\.rule.id) == ["android-cleartext", "android-cleartext", "android-cleartext"])
            #expect(Set(found.map(\.file)) == Set(names.map { "\(folder)/\($0)" }))
            #expect(self.report(folder).files == 3)
            #expect(self.report(folder + "/res/layout/pins.xml").findings.count == 1)
        }
    }

    @Test("a path where nothing is, is said to be that")
    func aPathWhereNothingIs() {
        var auditor = Auditor(list: nil, at: auditTime)
        var tree = FileTree(includesTests: false)
        #expect(!tree.walk("/nowhere/at/all", into: &auditor))
    }

    /// A folder with the source of other projects.
    private static let corpus = ProcessInfo.processInfo.environment["AUDIT_CORPUS"]

    /// Whether a path within a folder is that of a source which an audit of the folder reads.
    private static func isSource(_ path: String, in folder: String) -> Bool {
        let parts = path.split(separator: "/").map { $0.lowercased() }
        let isLeftOut = parts.contains { part in
            part.hasPrefix(".") || part.hasSuffix(".docc") || part == "deriveddata" || part == "node_modules"
        }
        guard path.hasSuffix(".swift"), !isLeftOut else { return false }
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
        return attributes?[.type] as? FileAttributeType == .typeRegular
    }

    /// The code of other projects: a crash or a hang would be seen here.
    @Test(
        "code of other projects is audited to its end, each file of it",
        .enabled(if: TreeTests.corpus != nil, "AUDIT_CORPUS names no folder with the source of other projects"))
    func codeOfOtherProjectsIsAuditedToItsEnd() throws {
        let corpus = try #require(Self.corpus)
        let sources = try FileManager.default.subpathsOfDirectory(atPath: corpus)
            .count { Self.isSource($0, in: corpus) }
        #expect(sources > 0)
        let report = self.report(corpus, tests: true)
        let unread = report.findings.count { $0.rule.id == "unreadable" }
        #expect(report.files + unread >= sources, "\(report.summary)")
    }
}
