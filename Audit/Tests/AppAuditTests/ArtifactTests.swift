// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppArtifacts
import AppAudit
import Testing

/// Files of a built app, made byte by byte.
enum BuiltApp {
    static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    static func big(_ value: UInt32) -> [UInt8] { self.little(value).reversed() }

    /// A thin arm64 program with libraries and undefined names.
    static func program(libraries: [String] = [], names: [String] = []) -> [UInt8] {
        var commands: [[UInt8]] = libraries.map { name in
            var text = Array(name.utf8) + [0]
            while text.count % 8 != 0 { text.append(0) }
            return self.little(0x0C) + self.little(UInt32(24 + text.count)) + self.little(24)
                + [UInt8](repeating: 0, count: 12) + text
        }
        var strings: [UInt8] = [0]
        var symbols: [UInt8] = []
        for name in names {
            symbols += self.little(UInt32(strings.count)) + [1, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
            strings += Array(name.utf8) + [0]
        }
        let start = 32 + commands.reduce(0) { $0 + $1.count } + 24
        commands.append(
            self.little(0x02) + self.little(24) + self.little(UInt32(start)) + self.little(UInt32(names.count))
                + self.little(UInt32(start + symbols.count)) + self.little(UInt32(strings.count)))
        let size = commands.reduce(0) { $0 + $1.count }
        return [0xCF, 0xFA, 0xED, 0xFE] + self.little(0x0100_000C) + self.little(0) + self.little(2)
            + self.little(UInt32(commands.count)) + self.little(UInt32(size)) + self.little(0) + self.little(0)
            + commands.flatMap { $0 } + symbols + strings
    }

    /// A fat file.
    static func fat(_ slices: [[UInt8]]) -> [UInt8] {
        var header = self.big(0xCAFE_BABE) + self.big(UInt32(slices.count))
        var offset = 8 + 20 * slices.count
        for slice in slices {
            header +=
                self.big(0x0100_000C) + self.big(0) + self.big(UInt32(offset)) + self.big(UInt32(slice.count))
                + self.big(0)
            offset += slice.count
        }
        return header + slices.flatMap { $0 }
    }

    /// A zip archive of stored files; a size that is stated otherwise is a lie.
    static func zip(_ files: [(name: String, bytes: [UInt8])], stating size: UInt32? = nil, method: UInt16 = 0)
        -> [UInt8]
    {
        var body: [UInt8] = []
        var directory: [UInt8] = []
        let way = [UInt8(method & 0xFF), UInt8(method >> 8)]
        for (name, bytes) in files {
            let offset = UInt32(body.count)
            let length = [UInt8(name.utf8.count & 0xFF), UInt8(name.utf8.count >> 8)]
            let sizes = self.little(0) + self.little(UInt32(bytes.count)) + self.little(size ?? UInt32(bytes.count))
            body +=
                self.little(0x0403_4B50) + [20, 0, 0, 0] + way + [0, 0, 0, 0] + sizes + length + [0, 0]
                + Array(name.utf8) + bytes
            directory += self.little(0x0201_4B50) + [20, 0, 20, 0, 0, 0] + way + [0, 0, 0, 0] + sizes + length
            directory += [UInt8](repeating: 0, count: 12) + self.little(offset) + Array(name.utf8)
        }
        // As programs write it that know no zip64: it begins again at 65,536.
        let count = [UInt8(files.count & 0xFF), UInt8(files.count >> 8 & 0xFF)]
        return body + directory + self.little(0x0605_4B50) + [0, 0, 0, 0] + count + count
            + self.little(UInt32(directory.count)) + self.little(UInt32(body.count)) + [0, 0]
    }
}

@Suite("Built apps")
struct ArtifactTests {
    private func findings(_ path: String, _ bytes: [UInt8]) -> [AuditFinding] { RuleFixture.findings([(path, bytes)]) }

    @Test("a TLS library of its own, a known SDK and classes that connect are read from a program, thin or fat")
    func aTLSLibraryOfItsOwnIsReadFromAProgram() {
        let program = BuiltApp.program(
            libraries: ["/usr/lib/libSystem.B.dylib", "@rpath/FirebaseCore.framework/FirebaseCore"],
            names: [
                "_SSL_CTX_set_custom_verify", "_OPENSSL_init_ssl", "_OBJC_CLASS_$_WKWebView", "_SecTrustSetExceptions",
            ])
        for bytes in [program, BuiltApp.fat([program, program])] {
            let report = RuleFixture.report([("Bank.app/Bank", bytes)])
            #expect(report.findings.map(\.rule.id) == ["own-tls-stack", "third-party-network", "trust-exceptions"])
            #expect(report.surfaces.map(\.kind) == ["BoringSSL", "WKWebView"])
        }
        #expect(
            self.findings(
                "Bank.app/Bank", BuiltApp.program(libraries: ["/usr/lib/libSystem.B.dylib"], names: ["_malloc"])
            ).isEmpty)
    }

    @Test(
        "each TLS library is known by a name that only it has",
        arguments: [
            ("_OSSL_PROVIDER_load", "OpenSSL"), ("_SSL_CTX_set_custom_verify", "BoringSSL"),
            ("_mbedtls_ssl_handshake", "mbedTLS"), ("_Cronet_Engine_Create", "Cronet"),
            ("_curl_easy_perform", "libcurl"),
            // What brings a handshake on step by step, or has a library between it and the handshake.
            ("_mbedtls_ssl_setup", "mbedTLS"), ("_SSL_do_handshake", "OpenSSL or BoringSSL"),
        ])
    func eachTLSLibraryIsKnownByANameThatOnlyItHas(_ name: String, _ stack: String) {
        let report = RuleFixture.report([("Bank.app/Bank", BuiltApp.program(names: ["_malloc", name]))])
        #expect(report.findings.map(\.rule.id) == ["own-tls-stack"])
        #expect(report.findings.first?.message == "\(stack), linked")
        #expect(report.surfaces.map(\.kind) == [stack])
    }

    @Test(
        "types of the system that connect are seen in a program by a name of theirs, those of Swift alone, too",
        arguments: [
            ("_$s7Network12NWConnectionC2to5usingAcA10NWEndpointO_AA12NWParametersCtcfC", "NWConnection"),
            ("_$s7SwiftUI10AsyncImageVMn", "AsyncImage"), ("_nw_connection_create", "NWConnection"),
            ("_OBJC_CLASS_$_AVURLAsset", "AVPlayer"), ("_OBJC_CLASS_$_AVPlayerItem", "AVPlayer"),
            ("_OBJC_CLASS_$_AVQueuePlayer", "AVPlayer"), ("_OBJC_CLASS_$_AVAsset", "AVPlayer"),
        ])
    func typesOfTheSystemThatConnectAreSeenInAProgram(_ name: String, _ kind: String) {
        let report = RuleFixture.report([("Bank.app/Bank", BuiltApp.program(names: ["_malloc", name, name]))])
        #expect(report.surfaces.map(\.kind) == [kind])
        #expect(report.surfaces.map(\.pinning) == [.unknown])
        // A type of the app's own in a module of its own.
        let own = BuiltApp.program(names: ["_$s4Bank12NWConnectionC2to5usingAcA10NWEndpointO_AA12NWParametersCtcfC"])
        #expect(RuleFixture.report([("Bank.app/Bank", own)]).surfaces.isEmpty)
    }

    @Test("a Mach-O file that is cut at any byte is a finding, and never a crash")
    func aMachOFileThatIsCutAtAnyByteIsAFinding() {
        let program = BuiltApp.program(libraries: ["@rpath/Alamofire.framework/Alamofire"], names: ["_a", "_b"])
        for count in 8..<program.count {
            let rules = self.findings("Bank", Array(program[..<count])).map(\.rule.id)
            #expect(rules.contains("unreadable"), "cut at \(count) of \(program.count)")
        }
        #expect(self.findings("Bank", Array(program[..<40])).map(\.rule.id) == ["unreadable"])
        let fat = BuiltApp.fat([program, program])
        #expect(self.findings("Bank", Array(fat.dropLast(10))).map(\.rule.id).contains("unreadable"))
    }

    @Test("a program whose tables do not fit, or have more than is read, is a finding beside what was read of it")
    func aProgramWhoseTablesDoNotFitIsAFinding() {
        let name = "@rpath/Alamofire.framework/Alamofire"
        let program = BuiltApp.program(libraries: [name], names: ["_SecTrustSetExceptions"])
        func changed(_ place: Int, _ value: UInt32) -> [String] {
            var bytes = program
            bytes.replaceSubrange(place..<place + 4, with: BuiltApp.little(value))
            return self.findings("Bank", bytes).map(\.rule.id).sorted()
        }
        #expect(changed(0, 0xFEED_FACF) == ["third-party-network", "trust-exceptions"])
        // The library's command has 24 bytes before its name, which a zero byte ends at 8 bytes.
        let table = 32 + 24 + (name.utf8.count + 8) / 8 * 8
        #expect(changed(32 + 8, 4_096) == ["trust-exceptions", "unreadable"])
        #expect(changed(table + 12, 3) == ["third-party-network", "trust-exceptions", "unreadable"])
        #expect(changed(table + 12, 4_000_001) == ["third-party-network", "trust-exceptions", "unreadable"])
        #expect(changed(table + 20, 4_096) == ["third-party-network", "unreadable"])
    }

    @Test("a fat file of a hundred slices is refused, with a line")
    func aFatFileOfAHundredSlicesIsRefused() {
        let found = self.findings("Bank", BuiltApp.fat([[UInt8]](repeating: BuiltApp.program(), count: 100)))
        #expect(found.map(\.rule.id) == ["unreadable"])
        #expect(found.first?.message.contains("32 architectures") == true)
    }

    @Test("files in an archive are audited under its name")
    func filesInAnArchiveAreAuditedUnderItsName() {
        let plist = Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)
        let found = self.findings("Bank.ipa", BuiltApp.zip([("Payload/Bank.app/Info.plist", plist)]))
        #expect(found.map(\.file) == ["Bank.ipa/Payload/Bank.app/Info.plist"])
        #expect(found.map(\.rule.id) == ["ats-arbitrary-loads"])
    }

    @Test("names that lead out of an archive, or stand there twice, are findings; the rest is read")
    func namesThatLeadOutOfAnArchiveAreFindings() {
        let plist = Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)
        let archive = BuiltApp.zip([
            ("../../etc/Info.plist", plist), ("/etc/Info.plist", plist), ("a/Info.plist", plist),
            ("a/Info.plist", plist),
        ])
        #expect(
            self.findings("Bank.ipa", archive).map(\.rule.id).sorted() == [
                "ats-arbitrary-loads", "unreadable", "unreadable", "unreadable",
            ])
    }

    @Test("a file that says to inflate a thousandfold is not inflated; one that lies about it is stopped")
    func aZipBombIsNotInflated() throws {
        let stated = try ZipArchive(
            BuiltApp.zip([("Info.plist", [UInt8](repeating: 0, count: 100))], stating: 1 << 30, method: 8))
        #expect(stated.entries.isEmpty)
        #expect(stated.refused.map(\.name) == ["Info.plist"])
        // Python: zlib.compressobj(9, zlib.DEFLATED, -15) over 4,096 zeros.
        let zeros: [UInt8] = [
            0xED, 0xC1, 0x01, 0x0D, 0x00, 0x00, 0x00, 0xC2, 0xA0, 0xF7, 0x4F, 0x6D, 0x0F, 0x07, 0x14, 0x00, 0x00, 0x00,
            0xF0, 0x6E,
        ]
        let lie = try ZipArchive(BuiltApp.zip([("Info.plist", zeros)], stating: 100, method: 8))
        let entry = try #require(lie.entries.first)
        #expect(throws: ArtifactError.self) { try lie.bytes(of: entry, maximum: 1_000) }
    }

    @Test("an archive whose files inflate to more than is read is read up to there, and that is said")
    func anArchiveWhoseFilesInflateToMoreThanIsReadIsReadUpToThere() {
        let plist = Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)
        let archive = BuiltApp.zip([("a/Info.plist", plist), ("b/Info.plist", plist), ("c/Info.plist", plist)])
        for (inflated, read) in [(3 * plist.count, 3), (3 * plist.count - 1, 2), (plist.count - 1, 0)] {
            var auditor = Auditor(list: nil, at: auditTime, inflated: inflated)
            auditor.add("Bank.ipa", .archive, archive)
            let rules = auditor.report().findings.map(\.rule.id)
            #expect(rules.count { $0 == "ats-arbitrary-loads" } == read)
            #expect(rules.count { $0 == "unreadable" } == (read < 3 ? 1 : 0))
        }
    }

    @Test("an archive has as many files as zip can count, and one more is zip64")
    func anArchiveHasAsManyFilesAsZipCanCountAndOneMoreIsZip64() throws {
        let files = (0...ArtifactLimits.zipEntries).map { (name: "\($0)", bytes: [UInt8]()) }
        #expect(try ZipArchive(BuiltApp.zip(Array(files.dropLast()))).entries.count == ArtifactLimits.zipEntries)
        #expect(throws: ArtifactError(.unsupported, "")) { try ZipArchive(BuiltApp.zip(files)) }
    }

    @Test("an archive whose count of files began again at 65,536 is a finding, and not read for its first few")
    func anArchiveWhoseCountOfFilesBeganAgainIsAFinding() {
        let plist = Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)
        let files = (0...0xFFFF).map { (name: "\($0).png", bytes: [UInt8]()) }
        let found = self.findings("Bank.ipa", BuiltApp.zip(files + [("Payload/Bank.app/Info.plist", plist)]))
        #expect(found.map(\.rule.id) == ["unreadable"])
        #expect(found.map(\.file) == ["Bank.ipa"])
    }

    @Test("data that zlib deflated is inflated")
    func dataThatZlibDeflatedIsInflated() throws {
        // Python: the same call over forty times this line.
        let deflated: [UInt8] = [
            0xB3, 0xC9, 0x4E, 0xAD, 0xB4, 0xF3, 0x0B, 0x76, 0xCC, 0xC9, 0xC9, 0x2F, 0x2F, 0x76, 0x2C, 0x4A, 0xCA, 0x2C,
            0x29, 0x4A, 0x2C, 0xAA, 0xF4, 0xC9, 0x4F, 0x4C, 0x29, 0xB6, 0xD1, 0x07, 0xC9, 0xD9, 0x94, 0x14, 0x95, 0xA6,
            0xEA, 0xDB, 0x71, 0xD9, 0x8C, 0x2A, 0x1C, 0x55, 0x38, 0xAA, 0x70, 0x54, 0xE1, 0xA8, 0xC2, 0x51, 0x85, 0xA4,
            0x2B, 0x04, 0x00,
        ]
        let text = Array(String(repeating: "<key>NSAllowsArbitraryLoads</key><true/>\n", count: 40).utf8)
        let archive = try ZipArchive(BuiltApp.zip([("a.plist", deflated)], stating: UInt32(text.count), method: 8))
        let entry = try #require(archive.entries.first)
        #expect(try archive.bytes(of: entry, maximum: 10_000) == text)
        #expect(throws: ArtifactError.self) { try archive.bytes(of: entry, maximum: 100) }
    }

    @Test("an archive that is cut or changed at any byte is a finding or is read, and never a crash")
    func anArchiveThatIsCutOrChangedNeverCrashes() {
        let plist = Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)
        let archive = BuiltApp.zip([("a/Info.plist", plist), ("a/b.strings", [1, 2, 3])])
        for index in archive.indices {
            _ = self.findings("Bank.ipa", Array(archive[..<index]))
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var changed = archive
                changed[index] = value
                _ = self.findings("Bank.ipa", changed)
            }
        }
        #expect(self.findings("Bank.ipa", Array(archive.dropLast(4))).map(\.rule.id) == ["unreadable"])
    }

    @Test("a binary property list that refers to itself is a finding")
    func aBinaryPropertyListThatRefersToItselfIsAFinding() {
        // One array, whose one element is itself.
        let bytes =
            Array("bplist00".utf8) + [0xA1, 0x00, 0x08] + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
            + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(self.findings("Info.plist", bytes).map(\.rule.id) == ["unreadable"])
    }

    @Test(
        "sources that are made to be slow are findings, and are not parsed",
        arguments: [
            String(repeating: "(", count: 20_000), "let a = " + String(repeating: "[", count: 20_000),
            String(repeating: "#if A\n", count: 20_000), "let a = " + String(repeating: "\"\\(", count: 5_000),
            String(repeating: "public ", count: 100_000), "let k = \\" + String(repeating: "A.", count: 100_000),
            String(repeating: "if a {} else ", count: 5_000) + "{}",
            "let a = " + String(repeating: "b ? c : ", count: 5_000),
        ])
    func sourcesThatAreMadeToBeSlowAreFindings(_ text: String) {
        #expect(self.findings("A.swift", Array(text.utf8)).map(\.rule.id) == ["unreadable"])
        _ = self.findings("A.m", Array(text.utf8))
    }

    @Test("sources that end within a text, a comment or a condition are read, in every language")
    func sourcesThatEndWithinATextAreRead() {
        for text in [
            "let a = \"", "/* ", "#if DEBUG\n", "\"\\", "@\"", "'", "\"\"\"", "#\"", "checkServerTrusted(", "[",
        ] {
            for name in ["A.swift", "A.m", "A.kt"] { _ = self.findings(name, Array(text.utf8)) }
        }
        let table = "let a: [UInt8] = [" + String(repeating: "0, ", count: 5_000) + "0]\nlet b = WKWebView()"
        #expect(self.findings("A.swift", Array(table.utf8)).map(\.rule.id) == ["surface-wkwebview"])
    }
}
