// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import Testing

@Suite("The guide to probing, and its examples")
struct ProbeGuideTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let examples = Self.root.appendingPathComponent("Examples/probe")

    @Sendable private static func has(_ command: String) async throws -> Bool {
        let run = try await FinishedProcess.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "command -v \(command)"],
            in: FileManager.default.temporaryDirectory)
        return run.status == 0
    }

    /// A project folder `pins` whose host is a server of ours, a token, and a `tumbler` on PATH that finds both: the
    /// commands themselves stay as they stand.
    private func with(_ body: (URL, RecordingService) async throws -> Void) async throws {
        let pki = try TestPKI([ProbeScene.host, "www.\(ProbeScene.host)"])
        let program = try #require(CommandRun.program)
        let answer: @Sendable (RecordingService.Request) -> RecordingService.Answer = { request in
            request.method == "POST" ? .says(202, [:], "") : .json(200, StatusText.status())
        }
        try await ProbeScene.with({ _ in pki.chain }) { scene in
            try await RecordingService.with(answer) { service in
                let entry = try scene.entry(ProbeScene.host, [try pki.leaf.pin, ProbeScene.backup])
                try scene.publish([entry])
                let folder = scene.folder
                for name in ["bin", "pins/root", ".config/tumbler"] {
                    try FileManager.default.createDirectory(
                        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
                }
                try folder.write(try pki.root.pem, as: "anchors.pem")
                try folder.write(ProjectText.good + "server: \(service.address)\n", as: "pins/tumbler.yaml")
                try folder.write(try folder.contents(of: "root.json"), as: "pins/root/1.json")
                try folder.write(try folder.contents(of: "bundled.json"), as: "pins/pins.json")
                try folder.writeToken(as: "pins/token")
                try folder.writeToken(as: ".config/tumbler/token")
                let wrapper = """
                    #!/bin/sh
                    [ "$1" = probe ] && set -- "$@" --roots "\(folder.path)/anchors.pem" \\
                        --connect-to "::127.0.0.1:\(scene.server.port)"
                    exec "\(program.path)" "$@"

                    """
                try await folder.writeProgram(wrapper, as: "bin/tumbler")
                try await body(folder, service)
            }
        }
    }

    /// The requests to the service, beside those for the lists that installations hold: every probe of a project asks
    /// that.
    private static func orders(_ service: RecordingService) -> [RecordingService.Request] {
        service.requests.filter { !$0.path.hasSuffix("/adoption") }
    }

    /// Runs a text as a script, in the project folder, at home in the folder of the test.
    private func run(_ script: String, in folder: URL) async throws -> CommandRun {
        try folder.write("set -eu\n" + script, as: "script.sh")
        return try await CommandRun.shell(
            #"cd pins && HOME="$OLDPWD" PATH="$OLDPWD/bin:$PATH" sh "$OLDPWD/script.sh""#, in: folder)
    }

    @Test(
        "the commands of the guide, in their order, as they stand",
        .enabled("jq is not installed") { try await Self.has("jq") })
    func commandsOfTheGuideInTheirOrderAsTheyStand() async throws {
        let page = try Self.root.text(of: "docs/guides/probe-your-hosts.md")
        let blocks = page.components(separatedBy: "```sh\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count == 6)
        try await self.with { folder, service in
            let run = try await self.run(blocks.joined(separator: "\n"), in: folder)
            #expect(run.exitCode == 0, "\(run)")
            let metrics = try folder.text(of: "pins/tumbler.prom")
            #expect(metrics.contains("tumbler_probe_ok{host=\"api.example.com\"} 1\n"))
            // Ninety days to the second, until the first of them is over.
            let days = [89, 90].map { "tumbler_probe_days_left{host=\"api.example.com\"} \($0)\n" }
            #expect(days.contains { metrics.contains($0) })
            let report = try JSONDecoder().decode(PrintedProbe.self, from: folder.contents(of: "pins/probe.json"))
            #expect(report.hosts.map(\.ok) == [true])
            #expect(
                Self.orders(service).map(\.path)
                    == ["/v1/lists/com.example.app/probe", "/v1/status", "/v1/status"])
        }
    }

    @Test("the guide names every member of the JSON")
    func guideNamesEveryMemberOfTheJSON() throws {
        let page = try Self.root.text(of: "docs/guides/probe-your-hosts.md")
        for member in PrintedProbe.Host.members { #expect(page.contains("`\(member)`"), "\(member)") }
    }

    @Test("the line for cron is silent when all is well, and prints everything when it is not")
    func lineForCronIsSilentWhenAllIsWellAndPrintsEverythingWhenItIsNot() async throws {
        let text = try Self.examples.text(of: "crontab")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("17 6 * * * ") })
        // In a crontab a percent sign is a line break.
        #expect(!line.contains("%"))
        let command = String(line.dropFirst("17 6 * * * ".count))
        try await self.with { folder, service in
            let well = try await self.run(command, in: folder)
            well.expectResult()
            #expect(well.output.isEmpty)
            #expect(Self.orders(service).count == 1)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("anchors.pem"))
            let failed = try await self.run(command, in: folder)
            #expect(failed.output.contains("tumbler: error: "), "\(failed)")
        }
    }

    @Test("the commands of the workflow, with a token and without")
    func commandsOfTheWorkflowWithATokenAndWithout() async throws {
        let text = try Self.examples.text(of: "github-actions.yml")
        let indent = String(repeating: " ", count: 10)
        let script = try #require(text.components(separatedBy: "run: |\n").last).split(separator: "\n")
            .prefix { $0.hasPrefix(indent) }.map { $0.dropFirst(indent.count) }.joined(separator: "\n")
        #expect(script.contains("tumbler probe --push"))
        try await self.with { folder, service in
            let bare = try await self.run("TOKEN= RUNNER_TEMP=$HOME\n\(script)", in: folder)
            #expect(bare.exitCode == 0, "\(bare)")
            #expect(Self.orders(service).isEmpty)
            let pushing = try await self.run("TOKEN=tumbler_aa_bb RUNNER_TEMP=$HOME\n\(script)", in: folder)
            #expect(pushing.exitCode == 0 && pushing.errors.isEmpty, "\(pushing)")
            #expect(Self.orders(service).map { $0.headers["Authorization"] } == [["Bearer tumbler_aa_bb"]])
        }
    }

    @Test("the unit and the timer are what systemd understands, and the unit's command is one of ours")
    func unitAndTheTimerAreWhatSystemdUnderstandsAndTheUnitsCommandIsOneOfOurs() async throws {
        let unit = try Self.examples.text(of: "tumbler-probe.service")
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=/usr/local/bin/") })
        try await self.with { folder, service in
            let command = line.dropFirst("ExecStart=/usr/local/bin/".count)
                .replacing("/etc/tumbler/project", with: "$HOME/pins")
            let run = try await self.run(
                "export STATE_DIRECTORY=$HOME TUMBLER_TOKEN_FILE=token\n\(command)", in: folder)
            run.expectResult()
            #expect(Self.orders(service).count == 1)
            #expect(try folder.text(of: "probe.json").contains("api.example.com"))
        }
    }

    @Test(
        "systemd-analyze verifies both files",
        .wants(.systemd), .enabled("systemd-analyze is not installed") { try await Self.has("systemd-analyze") })
    func systemdAnalyzeVerifiesBothFiles() async throws {
        try await withTemporaryFolder { folder in
            let program = try #require(CommandRun.program).path
            let unit = try Self.examples.text(of: "tumbler-probe.service")
            try folder.write(unit.replacing("/usr/local/bin/tumbler", with: program), as: "tumbler-probe.service")
            try folder.write(try Self.examples.text(of: "tumbler-probe.timer"), as: "tumbler-probe.timer")
            let run = try await CommandRun.shell(
                "systemd-analyze verify --man=no ./tumbler-probe.service ./tumbler-probe.timer 2>&1", in: folder)
            #expect(run.exitCode == 0 && !run.output.contains("tumbler-probe"), "\(run)")
        }
    }
}
