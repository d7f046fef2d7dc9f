// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import ArgumentParser
@_spi(Tools) import CertificatePinning
import Foundation
import PinListMetadata

@main
enum Main {
    /// The name that this program was started under: `tumbler audit` starts it as `audit`.
    static let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "tumbler-audit"

    /// The command that is read. Under the name `tumbler` it is a command of that: so `scripts/install` asks for what
    /// `tumbler` itself does not know, its completions and its part of the manual.
    private static var root: any ParsableCommand.Type { self.name == "tumbler" ? Tumbler.self : AuditCommand.self }

    static func main() {
        // Swift reads them from /proc on Linux.
        if CommandLine.arguments.isEmpty {
            self.say(
                AuditError(
                    reason: "the arguments cannot be read, because /proc is not mounted",
                    hint: "in a chroot: mount -t proc proc /proc"))
            exit(2)
        }
        // Deep sources nest deeply in the parser: its thread has room, of which only what is used is taken.
        let thread = Thread {
            do {
                var command = try Self.root.parseAsRoot()
                try command.run()
                exit(0)
            } catch let failure as AuditError {
                Self.say(failure)
                exit(2)
            } catch let code as ExitCode {
                exit(code.rawValue)
            } catch {
                switch Self.root.exitCode(for: error) {
                case .success:
                    print(Self.root.fullMessage(for: error))
                    exit(0)
                case .validationFailure:
                    Self.say(AuditError(reason: Self.root.message(for: error), hint: "see tumbler audit --help"))
                    exit(64)
                default:
                    Self.say(AuditError(reason: "\(error)"))
                    exit(2)
                }
            }
        }
        thread.stackSize = 256 * 1_048_576
        thread.start()
        while true { sleep(1_000) }
    }

    /// Says an error in the form of all programs (formats.md, section 8). Paths and sources may stand in it: line breaks
    /// and escape sequences must not reach a terminal.
    static func say(_ failure: AuditError) {
        let said: [(label: String, text: String?)] = [("error", failure.reason), ("hint", failure.hint)]
        for (label, text) in said {
            guard let text else { continue }
            let line = "tumbler: \(label): \(PrintableText.line(text, maximumLength: 1_024))\n"
            try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
        }
    }
}

/// The reason for which there is no report, or not all of one, and what to do where that can be said.
struct AuditError: Error {
    let reason: String
    var hint: String?
}

/// `--color WHEN`, which every command takes.
enum ColourChoice: String, CaseIterable, ExpressibleByArgument {
    case auto
    case always
    case never
}

/// `tumbler`, of which this program knows one command.
struct Tumbler: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tumbler", abstract: "Certificate pinning that can be operated.",
        version: AuditCommand.configuration.version, subcommands: [AuditCommand.self])
}

/// `tumbler audit`.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ["audit": "tumbler audit", "tumbler": "audit"][Main.name] ?? "tumbler-audit",
        abstract: "What in this app talks past its pins?",
        discussion: """
            Looks at source trees (Swift, Objective-C, Kotlin, Java), Info.plist, entitlements, Package.resolved, \
            Podfile.lock, network_security_config.xml, an .xcarchive, .ipa or .app. It ends with a table of the places \
            that connect. A finding is allowed by a comment at its line or the line above, with a reason: \
            // tumbler:allow RULE reason. Exit code 0: no errors; 1: errors; 2: something could not be read, or \
            there was nothing to audit, and nothing worse was found; 64: usage.
            """,
        version: ProgramVersion.current
    )

    @Argument(help: "Folders and files.", completion: .file())
    var paths: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print SARIF 2.1.0, for code-scanning pages.")
    var sarif = false

    @Option(
        help: ArgumentHelp("Findings that are known: what --json wrote before.", valueName: "file"),
        completion: .file())
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "The pin list of the app, to compare with; its signatures are not verified.", valueName: "file"),
        completion: .file())
    var list: String?

    @Flag(help: "Audit folders of tests, too.")
    var tests = false

    @Flag(help: "Print the rules and end.")
    var rules = false

    @Option(help: ArgumentHelp("Take this time for now.", valueName: "time", visibility: .hidden))
    var at: String?

    @Option(help: ArgumentHelp("Colours, of which the audit has none.", valueName: "when", visibility: .hidden))
    var color: ColourChoice?

    func validate() throws {
        if self.paths.isEmpty, !self.rules { throw ValidationError("name a folder or a file to audit") }
        if self.json, self.sarif { throw ValidationError("--json and --sarif are two forms: choose one") }
    }

    func run() throws {
        if self.rules { return self.printRules() }
        var auditor = Auditor(list: try self.pinList(), at: try self.time())
        var tree = FileTree(includesTests: self.tests)
        var missing: [String] = []
        for path in self.paths where !tree.walk(path, into: &auditor) {
            missing.append(path)
            auditor.note(unread: path, "there is no file or folder")
        }
        tree.finish(&auditor)
        let report = auditor.report(known: try self.known())
        try self.write(report)
        for path in missing {
            Main.say(AuditError(reason: "\(path): there is no file or folder"))
        }
        // What could not be read is a finding, and perhaps what was looked for.
        if report.files == 0, !report.findings.contains(where: { $0.rule.id == "unreadable" }) {
            Main.say(
                AuditError(
                    reason: self.paths.joined(separator: ", ") + ": no file was audited: there is no source in Swift, "
                        + "Objective-C, Kotlin or Java, no Info.plist, no network security configuration and no build",
                    hint: "give the folder of the app's sources, or the .app, .ipa or .xcarchive that its build leaves"
                ))
        }
        guard report.exitCode == 0, missing.isEmpty else { throw ExitCode(missing.isEmpty ? report.exitCode : 2) }
    }

    private func write(_ report: AuditReport) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if self.json {
            print(String(decoding: try encoder.encode(AuditJSON(report)), as: UTF8.self))
        } else if self.sarif {
            let log = StaticAnalysisLog(report, toolVersion: Self.configuration.version)
            print(String(decoding: try encoder.encode(log), as: UTF8.self))
        } else {
            print(report.lines.joined(separator: "\n"))
        }
    }

    private func printRules() {
        for rule in AuditRule.all {
            print("\(rule.id) (\(rule.severity.rawValue))\n    \(rule.meaning)\n    \(rule.advice)")
        }
    }

    private func time() throws -> Timestamp {
        guard let at else { return Timestamp(roundingDown: Date().timeIntervalSince1970) }
        guard let time = try? Timestamp(at) else {
            throw ValidationError("--at takes a time such as 2026-11-23T00:00:00Z")
        }
        return time
    }

    private func pinList() throws -> PinList? {
        guard let path = self.list else { return nil }
        let bytes = try Self.read(path, maximum: MetadataLimits().listBytes)
        do {
            return try PinList(payload: try Envelope(bytes, of: .pins, limits: MetadataLimits()).payload)
        } catch {
            throw AuditError(
                reason: "\(path) is no pin list: \(error)", hint: "give the signed list that the app ships")
        }
    }

    /// The fingerprints of a baseline.
    private func known() throws -> Set<String> {
        guard let path = self.baseline else { return [] }
        let bytes = try Self.read(path, maximum: 64 * 1_048_576)
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
            let findings = value["findings"] as? [[String: Any]]
        else {
            throw AuditError(
                reason: "\(path) is no report of tumbler audit --json",
                hint: "tumbler audit --json PATH prints one, with all that is known")
        }
        return Set(findings.compactMap { $0["fingerprint"] as? String })
    }

    private static func read(_ path: String, maximum limit: Int) throws -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path),
            let bytes = try? BoundedBytes.read(upTo: limit, { try file.read(upToCount: $0) })
        else { throw AuditError(reason: "\(path) cannot be read") }
        guard bytes.count <= limit else { throw AuditError(reason: "\(path) has over \(limit) bytes") }
        return bytes
    }
}
