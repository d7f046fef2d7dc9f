// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Testing

@Suite("Commands of tumbler-service and tumbler-audit, typed behind tumbler")
struct HandoverTests {
    /// A program in place of `tumbler-service` that prints what reached it: its place, its arguments, a line of
    /// standard input, a setting and its process id.
    private static let teller = """
        #!/bin/sh
        echo "place $0"
        for word in "$@"; do printf 'word <%s>\\n' "$word"; done
        read -r line
        echo "input $line, setting $SETTING, id $$"
        echo "beside the result" >&2
        exit 37

        """

    /// A folder with `tumbler` in `bin`: what is beside it is what a test puts there. It is in the products directory, so
    /// that the program can have another name there and need not be copied.
    private static func withTumbler(_ body: (URL) async throws -> Void) async throws {
        let built = try #require(CommandRun.program, "there is no tumbler beside the tests")
        let folder = built.deletingLastPathComponent()
            .appendingPathComponent("handover-\(UUID().uuidString)", isDirectory: true).resolvingSymlinksInPath()
        let bin = folder.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.linkItem(
            at: built.resolvingSymlinksInPath(), to: bin.appendingPathComponent("tumbler"))
        try await body(folder)
    }

    private struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    private static func shell(_ line: String, in folder: URL) async throws -> Run {
        let run = try await FinishedProcess.run(URL(fileURLWithPath: "/bin/sh"), ["-c", line], in: folder)
        return Run(
            status: run.status, output: String(decoding: run.output, as: UTF8.self),
            errors: String(decoding: run.errors, as: UTF8.self))
    }

    @Test(
        "arguments, input, environment and process id reach the program beside tumbler, and its exit code is the command's"
    )
    func argumentsInputEnvironmentAndProcessIdReachTheProgramBesideTumbler() async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram(Self.teller, as: "bin/tumbler-service")
            try folder.write("hello\n", as: "input")
            for command in ServiceCommand.allCases {
                // The shell becomes the command, so that both have one id. The last argument is no text.
                let run = try await Self.shell(
                    "echo $$; SETTING='a b' exec bin/tumbler \(command.rawValue) --help 'two words' '' -- --json "
                        + #""$(printf '\377')" <input"#, in: folder)
                let lines = run.output.split(separator: "\n").map(String.init)
                #expect(
                    lines.dropFirst() == [
                        "place \(folder.path)/bin/tumbler-service", "word <\(command.rawValue)>", "word <--help>",
                        "word <two words>", "word <>", "word <-->", "word <--json>", "word <\u{FFFD}>",
                        "input hello, setting a b, id \(lines.first ?? "")",
                    ])
                #expect(run.status == 37)
                #expect(run.errors == "beside the result\n")
            }
            let help = try await Self.shell("bin/tumbler help audit-log <input", in: folder)
            #expect(help.output.contains("word <help>\nword <audit-log>\n"))
        }
    }

    @Test(
        "what follows audit reaches tumbler-audit, and --color before it is neither lost as a path nor handed over",
        arguments: ["", "--color never ", "--color=always ", "--color auto --color never "])
    func whatFollowsAuditReachesTumblerAudit(before: String) async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram(Self.teller, as: "bin/tumbler-audit")
            try folder.write("hello\n", as: "input")
            let run = try await Self.shell(
                "bin/tumbler \(before)audit --list 'two words' audit --color never -- --help <input", in: folder)
            #expect(
                run.output.split(separator: "\n").dropLast() == [
                    "place \(folder.path)/bin/tumbler-audit", "word <--list>", "word <two words>", "word <audit>",
                    "word <--color>", "word <never>", "word <-->", "word <--help>",
                ], "\(run)")
            #expect(run.status == 37)
        }
    }

    @Test(
        "the real program answers as tumbler: its help can be typed again, and a wrong option has the one form of errors"
    )
    func realProgramAnswersAsTumbler() async throws {
        try await withTemporaryFolder { folder in
            let help = try await CommandRun.tumbler(["token", "create", "--help"], in: folder)
            help.expectResult()
            #expect(help.output.contains("USAGE: tumbler token create --scope"), "\(help)")
            try await CommandRun.tumbler(["serve", "--nothing"], in: folder).expectError(64, hint: true)
        }
    }

    @Test("the program beside tumbler goes before that on the PATH, of which relative folders do not count")
    func programBesideTumblerGoesBeforeThatOnThePATHOfWhichRelativeFoldersDoNotCount() async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram("#!/bin/sh\necho on the path\n", as: "elsewhere/tumbler-service")
            try await folder.writeProgram("#!/bin/sh\necho relative\n", as: "here/tumbler-service")
            try await folder.writeProgram("#!/bin/sh\necho here\n", as: "tumbler-service")
            // Neither a file without the right to run it nor a folder is a program.
            for name in ["data", "folder/tumbler-service"] {
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
            }
            try folder.write("no program", as: "data/tumbler-service")
            let serve = #"PATH="here::.:$PWD/data:$PWD/folder:$PWD/elsewhere:/usr/bin:/bin" bin/tumbler serve"#
            #expect(try await Self.shell(serve, in: folder).output == "on the path\n")
            try await folder.writeProgram("#!/bin/sh\necho beside\n", as: "bin/tumbler-service")
            #expect(try await Self.shell(serve, in: folder).output == "beside\n")
        }
    }

    @Test("with tumbler as a link, the program beside the file that it leads to counts")
    func withTumblerAsALinkTheProgramBesideTheFileThatItLeadsToCounts() async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram("#!/bin/sh\necho beside the file\n", as: "bin/tumbler-service")
            let links = folder.appendingPathComponent("links")
            try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
            for (name, target) in [("first", "../bin/tumbler"), ("tumbler", "first")] {
                try FileManager.default.createSymbolicLink(
                    atPath: links.appendingPathComponent(name).path, withDestinationPath: target)
            }
            let run = try await Self.shell(#"PATH="$PWD/links:/usr/bin:/bin" tumbler token list"#, in: folder)
            #expect(run.output == "beside the file\n", "\(run)")
        }
    }

    @Test(
        "where it is not installed each says what is missing and how to get it, with exit code 2, and is listed still")
    func whereItIsNotInstalledEachSaysWhatIsMissingAndHowToGetIt() async throws {
        try await Self.withTumbler { folder in
            for words in ServiceCommand.allCases.map({ "\($0.rawValue) --help" }) + ["help serve"] {
                let run = try await Self.shell("PATH=/nowhere bin/tumbler \(words)", in: folder)
                #expect(run.status == 2 && run.output.isEmpty, "\(words): \(run)")
                #expect(
                    run.errors.hasPrefix(
                        "tumbler: error: tumbler-service is not installed: it is neither beside tumbler, in "
                            + "\(folder.path)/bin, nor on the PATH\ntumbler: hint: make install"), "\(words): \(run)")
                #expect(run.errors.split(separator: "\n").count == 2, "\(run)")
            }
            let help = try await Self.shell("PATH=/nowhere bin/tumbler --help", in: folder)
            #expect(help.status == 0)
            for command in ServiceCommand.allCases {
                #expect(help.output.contains("  \(command.rawValue) "), "\(help)")
                #expect(help.output.contains(command.abstract.prefix(30)), "\(help)")
            }
        }
    }

    @Test("a link from tumbler-service back to tumbler is no program of the service, and nothing runs for ever")
    func linkFromTumblerServiceBackToTumblerIsNoProgramOfTheService() async throws {
        try await Self.withTumbler { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder.appendingPathComponent("bin/tumbler-service").path, withDestinationPath: "tumbler")
            let run = try await Self.shell("PATH=/nowhere bin/tumbler serve", in: folder)
            #expect(run.status == 2 && run.errors.contains("is not installed"), "\(run)")
        }
    }

    @Test("a file that cannot be started is said, with exit code 2")
    func fileThatCannotBeStartedIsSaid() async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram("#!/nowhere/shell\n", as: "bin/tumbler-service")
            let run = try await Self.shell("bin/tumbler serve", in: folder)
            #expect(run.status == 2 && run.errors.contains("bin/tumbler-service cannot be started: "), "\(run)")
        }
    }

    @Test(
        "a signal for tumbler reaches the program of the service, and ends it as it says",
        arguments: [("TERM", 7), ("HUP", 8), ("USR1", 138), ("KILL", 137)])
    func signalForTumblerReachesTheProgramOfTheService(signal: String, status: Int32) async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram(
                """
                #!/bin/sh
                trap 'exit 7' TERM
                trap 'exit 8' HUP
                echo >ready
                while :; do :; done

                """, as: "bin/tumbler-service")
            let run = try await Self.shell(
                "mkfifo ready; bin/tumbler serve & read -r line <ready; kill -\(signal) $!; wait $!; exit $?",
                in: folder)
            #expect(run.status == status, "\(run)")
        }
    }

    @Test("signals that are ignored stay ignored")
    func signalsThatAreIgnoredStayIgnored() async throws {
        try await Self.withTumbler { folder in
            try await folder.writeProgram(
                "#!/bin/sh\nkill -PIPE $$\nkill -HUP $$\necho alive\n", as: "bin/tumbler-service")
            let run = try await Self.shell("trap '' PIPE HUP; bin/tumbler serve", in: folder)
            #expect(run.output == "alive\n" && run.status == 0, "\(run)")
        }
    }
}
