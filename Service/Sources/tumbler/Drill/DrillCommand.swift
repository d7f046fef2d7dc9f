// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListClient
import PinListRepository
import UnixSignals

/// The rehearsal of an emergency.
struct DrillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Rehearse an emergency on this machine, with throw-away keys, and time it.",
        discussion: """
            Copies the domains, the name and the times of the project's list into a temporary folder, starts a server \
            for a host, a service and installations on loopback, and breaks something. The person on call types what \
            the runbook says, at the prompt or in another terminal. In the end a page in Markdown says what took how \
            long, and against which goal. Nothing of the project is touched, and nothing leaves this machine. Without \
            --scenario it is any of the four, and is not announced.

            Exit code 0: everything was repaired and every goal met; 1: not so, the page says what; 2: the drill could \
            not be held.
            """
    )

    @Option(help: ArgumentHelp("The domain of an entry that enforces; by default the first one.", valueName: "host"))
    var host: String?

    @Option(help: "lost-key, strange-ca, stolen-pins-key or wrong-list.")
    var scenario: DrillScenario?

    @Flag(help: "Do what the runbooks say, without a person.")
    var auto = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write the page to this file; by default to standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var project: ProjectOption

    func run() async throws {
        guard self.auto || isatty(STDIN_FILENO) == 1 else {
            throw CommandError(
                .usage, "there is no terminal here: a drill is for people at a terminal",
                hint: "--auto does what the runbooks say")
        }
        if let output { try Self.expectRoom(for: output) }
        let source = try SourceInput(nil, self.project).source
        let scenario = self.scenario ?? DrillScenario.allCases.randomElement() ?? .lostKey
        let (host, auto) = (self.host, self.auto)
        let record = try await Self.untilInterrupted {
            try await Drill.run(
                scenario, copying: source, host: host, isAutomatic: auto, clock: SystemClock(),
                person: DrillTerminal(asks: !auto))
        }
        if !auto {
            let place = self.output.map { "the page is \($0)" } ?? "this is the page"
            StandardError.told("The drill is over\(record.isGood ? ", and every goal was met" : ""): \(place).")
        }
        let page = Array(DrillPage(record: record).text.utf8)
        if let output {
            try CommandError.wrapping { () throws(RepositoryError) in
                try WrittenFile.write(page, to: output, .published, existing: .replaced)
            }
        } else {
            try StandardOutput.write(Data(page))
        }
        guard record.isGood else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// Refuses a page that could not be written, before a person spends an hour on it.
    private static func expectRoom(for output: String) throws(CommandError) {
        let folder = URL(fileURLWithPath: output, relativeTo: ProjectOption.working).deletingLastPathComponent()
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandError(.undecided, "-o \(output): there is no folder \(folder.path)", hint: "make it first")
        }
    }

    /// Ctrl-C, SIGTERM, and a terminal that is closed end everything that runs and remove what was made.
    private static func untilInterrupted(
        _ body: @escaping @Sendable () async throws -> DrillRecord
    ) async throws -> DrillRecord {
        try await withThrowingTaskGroup(of: DrillRecord?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) {
                    throw CommandError(.undecided, "interrupted: everything was ended, and the folder was removed")
                }
                return nil
            }
            defer { group.cancelAll() }
            while let record = try await group.next() {
                if let record { return record }
            }
            throw CancellationError()
        }
    }
}
