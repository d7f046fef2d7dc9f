// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The command drill")
struct DrillCommandTests {
    /// Whether `strace` may look at a program here.
    @Sendable private static func mayTrace() async throws -> Bool {
        let run = try await FinishedProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"), ["strace", "-o", "/dev/null", "true"],
            in: FileManager.default.temporaryDirectory)
        return run.status == 0
    }

    /// A project as `init` makes it, in `project`, and an empty folder `tmp`.
    private static func prepare(_ folder: URL) async throws {
        let run = try await CommandRun.tumbler(
            [
                "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain",
                "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
            ], in: folder)
        #expect(run.exitCode == 0, "\(run)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("tmp"), withIntermediateDirectories: true)
        // Where a list may name addresses, these do.
        let source = try folder.text(of: "project/tumbler.yaml")
            .replacing("reportTo: []", with: "reportTo: [https://192.0.2.1/v1/reports]\nserver: https://192.0.2.2")
        try folder.write(source, as: "project/tumbler.yaml")
    }

    /// All files of a folder, byte for byte.
    private static func files(of folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(name)
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            files[name] = isFolder.boolValue ? Data() : try Data(contentsOf: file)
        }
        return files
    }

    @Test("the project is byte for byte the same, the temporary folder is empty, and the page is there")
    func projectIsByteForByteTheSameTheTemporaryFolderIsEmptyAndThePageIsThere() async throws {
        try await withTemporaryFolder { folder in
            try await Self.prepare(folder)
            let before = try Self.files(of: folder)
            let run = try await CommandRun.shell(
                #"TMPDIR="$PWD/tmp" "$0" drill --auto --scenario stolen-pins-key -C project -o page.md"#, in: folder)
            #expect(run.exitCode == 0 && run.outputBytes.isEmpty, "\(run)")
            var after = try Self.files(of: folder)
            let page = String(decoding: after.removeValue(forKey: "page.md") ?? Data(), as: UTF8.self)
            #expect(after == before)
            #expect(page.hasPrefix("# Drill: a stolen pins key\n"))
            #expect(page.contains("Everything was repaired, and every goal was met.\n"))
        }
    }

    @Test(
        "only loopback is connected to, and only the temporary folder and the page are written",
        .enabled("there is no strace that may trace (CAP_SYS_PTRACE)", Self.mayTrace))
    func onlyLoopbackIsConnectedToAndOnlyTheTemporaryFolderAndThePageAreWritten() async throws {
        try await withTemporaryFolder { folder in
            try await Self.prepare(folder)
            let calls = "connect,sendto,sendmsg,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat"
            let run = try await CommandRun.shell(
                #"TMPDIR="$PWD/tmp" strace -f -qq -e trace=\#(calls) -o trace.txt "$0" "#
                    + "drill --auto --scenario lost-key -C project -o page.md", in: folder)
            #expect(run.exitCode == 0, "\(run)")
            let lines = try folder.text(of: "trace.txt").split(separator: "\n").map(String.init)

            let addresses = lines.compactMap(Self.address)
            #expect(addresses.contains("127.0.0.1"), "nothing was seen")
            let strangers = addresses.filter { !$0.hasPrefix("127.") && $0 != "::1" }
            #expect(strangers.isEmpty)

            let written = lines.compactMap(Self.writtenPath)
            let temporary = folder.resolvingSymlinksInPath().appendingPathComponent("tmp").path
            #expect(written.contains { $0.contains("/tmp/tumbler-drill-") }, "nothing was seen")
            let elsewhere = written.filter { path in
                !path.hasPrefix(temporary) && !path.hasPrefix(folder.appendingPathComponent("tmp").path)
                    && !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/self/") && !path.hasPrefix("page.md")
                    && path != "."
            }
            #expect(elsewhere.isEmpty)
        }
    }

    /// The IP address that a line of a trace connects or sends to.
    private static func address(_ line: String) -> String? {
        for mark in ["inet_addr(\"", "inet_pton(AF_INET6, \""] {
            guard let begin = line.range(of: mark) else { continue }
            return String(line[begin.upperBound...].prefix { $0 != "\"" })
        }
        return nil
    }

    /// The path that a line of a trace makes, opens for writing or gives a name.
    private static func writtenPath(_ line: String) -> String? {
        let opens = line.contains("open(") || line.contains("openat(")
        guard line.contains("\""), !line.contains("connect("), !line.contains("send") else { return nil }
        if opens, !line.contains("O_WRONLY"), !line.contains("O_RDWR"), !line.contains("O_CREAT") { return nil }
        let strings = line.components(separatedBy: "\"")
        // A renamed or linked file has its new name last.
        guard strings.count >= 3 else { return nil }
        return opens ? strings[1] : strings[strings.count - 2]
    }

    @Test("without a terminal and without --auto no person can take part; a bad host and a bad folder are said at once")
    func withoutATerminalAndWithoutAutoNoPersonCanTakePart() async throws {
        try await withTemporaryFolder { folder in
            try await Self.prepare(folder)
            try await CommandRun.tumbler(["drill", "-C", "project"], in: folder).expectError(64, hint: true)
            let auto = ["drill", "--auto", "-C", "project"]
            try await CommandRun.tumbler(auto + ["--host", "api.example.org"], in: folder).expectError(64, hint: true)
            try await CommandRun.tumbler(auto + ["--scenario", "flood"], in: folder).expectError(64)
            try await CommandRun.tumbler(auto + ["-o", "nowhere/page.md"], in: folder).expectError(2, hint: true)
            try await CommandRun.tumbler(["drill", "--auto"], in: folder).expectError(2, hint: true)
        }
    }
}
