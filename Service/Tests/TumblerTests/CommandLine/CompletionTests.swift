// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Completions, typed in a shell")
struct CompletionTests {
    /// What is typed before Tab, and what the command then is.
    private static let cases = [
        ("evaluate --chain ch", "evaluate --chain chain.pem"),
        ("evaluate --transparency a", "evaluate --transparency apple"),
        ("key new --algorithm ml", "key new --algorithm ml-dsa-65"),
        ("attest attestation --environment d", "attest attestation --environment development"),
        ("simulate ch", "simulate chain.pem"),
        ("lint -C pro", "lint -C project"),
        ("--color ne", "--color never"),
    ]

    /// Types each line and Tab, then Enter, into a shell in which `tumbler` prints what it was given.
    private static let script = #"""
        import json, os, pty, select, sys
        setup, lines, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
        os.environ.update(TERM="dumb", LC_ALL="C")
        process, terminal = pty.fork()
        if process == 0: os.execvp(command[0], command)
        shown = b""
        def until(text):
            global shown
            while text not in shown:
                assert select.select([terminal], [], [], 600)[0], shown
                shown += os.read(terminal, 4096)
            found, shown = shown.split(text, 1)
            return found.decode()
        os.write(terminal, setup.encode() + b"; tumbler() { printf '<%s' \"<$*>\"; echo '>'; }; PS1='REA''DY '\n")
        for line in lines:
            until(b"READY ")
            os.write(terminal, b"tumbler " + line.encode() + b"\t\n")
            until(b"<<")
            print(until(b">>").strip())
        os.write(terminal, b"exit\n")
        """#

    /// Shells differ in the slash behind a folder.
    private static func withoutSlash(_ text: Substring) -> String {
        String(text.hasSuffix("/") ? text.dropLast() : text)
    }

    private static func has(_ shell: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(shell)") }
    }

    private static func canType(_ shell: String) async throws -> Bool {
        guard self.has(shell) else { return false }
        return try await Typist.hasPython()
    }

    /// Makes a folder with the script of a shell and things to complete.
    private static func with(
        _ shell: String, named name: String, _ body: (URL) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let script = try await CommandRun.tumbler(["--generate-completion-script", shell], in: folder)
            script.expectResult()
            try script.outputBytes.write(to: folder.appendingPathComponent(name))
            try folder.write("", as: "chain.pem")
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("project"), withIntermediateDirectories: false)
            try await body(folder)
        }
    }

    private static func typed(_ shell: [String], _ setup: String, in folder: URL) async throws -> [String] {
        let lines = String(decoding: try JSONEncoder().encode(self.cases.map(\.0)), as: UTF8.self)
        let run = try await FinishedProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"), ["python3", "-c", self.script, setup, lines] + shell, in: folder)
        #expect(run.status == 0, "\(String(decoding: run.errors, as: UTF8.self))")
        return String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(Self.withoutSlash)
    }

    @Test(
        "bash completes files, folders and values",
        .enabled("there is no bash or no python3 to type") { try await Self.canType("bash") })
    func bashCompletesFilesFoldersAndValues() async throws {
        try await Self.with("bash", named: "completion") { folder in
            let typed = try await Self.typed(["bash", "--norc", "-i"], "source ./completion", in: folder)
            #expect(typed == Self.cases.map(\.1))
        }
    }

    @Test(
        "zsh completes files, folders and values",
        .enabled("there is no zsh or no python3 to type: left to make nightly") { try await Self.canType("zsh") })
    func zshCompletesFilesFoldersAndValues() async throws {
        try await Self.with("zsh", named: "_tumbler") { folder in
            let setup = "fpath=('\(folder.path)' $fpath); autoload -U compinit; compinit -u -D"
            let typed = try await Self.typed(["zsh", "-f", "-i"], setup, in: folder)
            #expect(typed == Self.cases.map(\.1))
        }
    }

    @Test(
        "fish completes files, folders and values",
        .enabled("there is no fish: left to make nightly") { Self.has("fish") })
    func fishCompletesFilesFoldersAndValues() async throws {
        try await Self.with("fish", named: "completion.fish") { folder in
            for (line, whole) in Self.cases {
                let run = try await FinishedProcess.run(
                    URL(fileURLWithPath: "/usr/bin/env"),
                    ["fish", "--no-config", "-c", "source completion.fish; complete --do-complete 'tumbler \(line)'"],
                    in: folder)
                let offered = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
                    .compactMap { $0.split(separator: "\t").first.map(Self.withoutSlash) }
                #expect(offered == [whole.split(separator: " ").last.map(String.init) ?? ""], "\(line)")
            }
        }
    }
}
