// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Other tools' configurations, on the command line")
struct ConvertCommandTests {
    private struct Converted: Decodable {
        struct Warning: Decodable, Equatable {
            let domain: String?
            let setting: String
            let effect: String
            let message: String
        }
        let output: String
        let warnings: [Warning]
    }

    /// An Info.plist as Xcode has it, made by Python: XML and binary.
    private static func makeInfoPlist(in folder: URL) async throws {
        let script = """
            import plistlib
            hashes = ["\(ProjectText.pin("a").dropFirst(7))", "\(ProjectText.pin("b").dropFirst(7))"]
            info = {"CFBundleIdentifier": "com.example.app", "UILaunchScreen": {}, "TSKConfiguration": {
                "TSKSwizzleNetworkDelegates": True, "TSKPinnedDomains": {
                    "Example.com": {"TSKPublicKeyHashes": hashes, "TSKIncludeSubdomains": True,
                        "TSKDisableDefaultReportUri": True, "TSKExpirationDate": "2099-06-01"},
                    "open.example.com": {"TSKExcludeSubdomainFromParentPolicy": True},
                    "r.example.org": {"TSKPublicKeyHashes": hashes, "TSKEnforcePinning": False,
                        "TSKDisableDefaultReportUri": True, "TSKReportUris": ["https://reports.example.net/v1"]}}},
                "NSAppTransportSecurity": {"NSPinnedDomains": {"www.example.org": {"NSIncludesSubdomains": True,
                    "NSPinnedCAIdentities": [{"SPKI-SHA256-BASE64": h} for h in hashes],
                    "NSPinnedLeafIdentities": [{"SPKI-SHA256-BASE64": h} for h in hashes]}}}}
            for name, form in (("Info.plist", plistlib.FMT_XML), ("binary.plist", plistlib.FMT_BINARY)):
                with open(name, "wb") as file: plistlib.dump(info, file, fmt=form)
            """
        try folder.write(script, as: "make.py")
        let made = try await CommandRun.shell("python3 make.py", in: folder)
        #expect(made.exitCode == 0, "\(made)")
    }

    private static let section = """
        domains:
          - domain: "example.com"
            includeSubdomains: true
            mode: enforce
            expiresAt: 2099-06-01T00:00:00Z
            pins:
              - {pin: "\(ProjectText.pin("a"))"}
              - {pin: "\(ProjectText.pin("b"))"}
          - domain: "open.example.com"
            mode: "off"
          - domain: "r.example.org"
            mode: report
            reportTo: ["https://reports.example.net/v1"]
            pins:
              - {pin: "\(ProjectText.pin("a"))"}
              - {pin: "\(ProjectText.pin("b"))"}

        """

    @Test("an Info.plist, XML and binary, becomes a section that lint and build take; the warnings stand beside it")
    func infoPlistXMLAndBinaryBecomesASectionThatLintAndBuildTake() async throws {
        try await withTemporaryFolder { folder in
            try await Self.makeInfoPlist(in: folder)
            for name in ["Info.plist", "binary.plist"] {
                let run = try await CommandRun.tumbler(["convert", name, "--from", "trustkit"], in: folder)
                #expect(run.exitCode == 0 && run.output == Self.section, "\(run)")
                #expect(
                    run.errorLines == [
                        "tumbler: warning: TSKSwizzleNetworkDelegates: nothing is swizzled here: only connections that "
                            + "are made with an adapter are pinned (accepts more)"
                    ])
            }
            let input = try await CommandRun.tumbler(
                ["convert", "-", "--from", "trustkit"], in: folder, standardInput: "binary.plist")
            #expect(input.output == Self.section)
            try folder.write("name: com.example.app\n" + Self.section, as: "tumbler.yaml")
            let lint = try await CommandRun.tumbler(["lint"], in: folder)
            #expect(lint.exitCode == 0, "\(lint)")
            try await CommandRun.tumbler(["build", "-o", "list.json"], in: folder).expectResult()
            let json = try await CommandRun.tumbler(
                ["convert", "--json", "Info.plist", "--from", "trustkit"], in: folder)
            json.expectResult()
            let converted = try json.decoded(as: Converted.self)
            #expect(converted.output == Self.section && converted.warnings.map(\.effect) == ["weaker"])
        }
    }

    @Test("there and back: every tool's form of the project, of its list and of its payload, read again")
    func thereAndBackEveryToolsFormOfTheProjectOfItsListAndOfItsPayloadReadAgain() async throws {
        try await withTemporaryFolder { folder in
            let source = """
                name: com.example.app
                domains:
                  - domain: "example.com"
                    includeSubdomains: true
                    mode: enforce
                    pins:
                      - {pin: "\(ProjectText.pin("a"))", position: any}
                      - {pin: "\(ProjectText.pin("b"))"}

                """
            try folder.write(source, as: "tumbler.yaml")
            try await CommandRun.tumbler(["build", "-o", "list.json"], in: folder).expectResult()
            let section = String(source.drop { $0 != "\n" }.dropFirst()).replacing(", position: any", with: "")
            for format in ["trustkit", "android", "okhttp"] {
                let written = try await CommandRun.tumbler(["convert", "--to", format], in: folder)
                written.expectResult()
                for input in [["list.json"], ["tumbler.yaml"], ["-C", "."]] {
                    let same = try await CommandRun.tumbler(["convert", "--to", format] + input, in: folder)
                    #expect(same.outputBytes == written.outputBytes)
                }
                try folder.write(written.outputBytes, as: format)
                let read = try await CommandRun.tumbler(["convert", format, "--from", format], in: folder)
                read.expectResult()
                #expect(read.output == section, "\(read)")
            }
            let apple = try await CommandRun.tumbler(["convert", "--to", "nspinneddomains"], in: folder)
            #expect(apple.exitCode == 0 && apple.errorLines.count == 2, "\(apple)")
            try folder.write(apple.outputBytes, as: "apple")
            let between = try await CommandRun.tumbler(
                ["convert", "apple", "--from", "nspinneddomains", "--to", "okhttp"], in: folder)
            #expect(between.exitCode == 0 && between.lines.count == 6, "\(between)")
            let plist = try await CommandRun.shell(
                "python3 -c 'import plistlib; print(sorted(plistlib.load(open(\"trustkit\", \"rb\"))))'", in: folder)
            #expect(plist.output == "['TSKConfiguration']\n", "\(plist)")
        }
    }

    @Test("NSPinnedDomains with both lists: both must match, and lint takes it")
    func nsPinnedDomainsWithBothListsBothMustMatchAndLintTakesIt() async throws {
        try await withTemporaryFolder { folder in
            try await Self.makeInfoPlist(in: folder)
            let run = try await CommandRun.tumbler(["convert", "Info.plist", "--from", "nspinneddomains"], in: folder)
            #expect(run.exitCode == 0 && run.errorLines.count == 1, "\(run)")
            #expect(run.lines.contains("    requireIssuer: true"))
            #expect(run.lines.count { $0.hasSuffix(", position: issuer}") } == 2)
            try folder.write("name: com.example.app\n" + run.output, as: "tumbler.yaml")
            // The same two pins as leaf and as issuer: no real list, but a valid one.
            let build = ["build", "-o", "-", "--allow", "backup-equals-primary"]
            #expect(try await CommandRun.tumbler(build, in: folder).exitCode == 0)
        }
    }

    @Test("a host without a usable pin is a comment and a warning, not an entry that no client takes")
    func hostWithoutAUsablePinIsACommentAndAWarningNotAnEntryThatNoClientTakes() async throws {
        try await withTemporaryFolder { folder in
            let text = """
                val pinner = CertificatePinner.Builder()
                    .add("old.example.com", "sha1/AAAA")
                    .add("**.co.uk", "\(ProjectText.pin("a"))", "\(ProjectText.pin("b"))")
                    .build()
                """
            try folder.write(text, as: "Pins.kt")
            let run = try await CommandRun.tumbler(["convert", "Pins.kt", "--from", "okhttp"], in: folder)
            #expect(
                run.exitCode == 0 && run.lines.contains { $0.hasPrefix("  # old.example.com is left out") }, "\(run)")
            #expect(run.errorLines.count == 4, "\(run)")
            #expect(run.errors.contains("co.uk: includeSubdomains: under a public suffix"))
            try folder.write(".add(\"old.example.com\", \"sha1/AAAA\")", as: "Old.kt")
            let old = try await CommandRun.tumbler(["convert", "Old.kt", "--from", "okhttp"], in: folder)
            #expect(old.exitCode == 1 && old.outputBytes.isEmpty && old.errors.contains("tumbler: error: "), "\(old)")
        }
    }

    @Test("files that are missing, of another form or without pins, and wrong usage")
    func filesThatAreMissingOfAnotherFormOrWithoutPinsAndWrongUsage() async throws {
        try await withTemporaryFolder { folder in
            func run(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.tumbler(["convert"] + arguments, in: folder)
            }
            try await run("missing.plist", "--from", "trustkit").expectError(2)
            try folder.write("no plist", as: "text")
            for format in ["trustkit", "nspinneddomains", "android"] {
                try await run("text", "--from", format).expectError(2, hint: true)
            }
            try await run("text", "--from", "okhttp").expectError(1, hint: true)
            try folder.write("<plist><dict><key>CFBundleName</key><string>x</string></dict></plist>", as: "Info.plist")
            try await run("Info.plist", "--from", "trustkit").expectError(1, hint: true)
            try await run("Info.plist", "--from", "nspinneddomains").expectError(1, hint: true)
            try folder.write("<network-security-config/>", as: "config.xml")
            try await run("config.xml", "--from", "android").expectError(1, hint: true)
            try await run("--from", "android").expectError(64)
            try await run("Info.plist").expectError(64)
            try await run("Info.plist", "--from", "nonsense").expectError(64)
            try await run("--to", "okhttp").expectError(2)
            try await run("text", "--to", "okhttp").expectError(1)
        }
    }
}
