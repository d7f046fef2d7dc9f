// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListMetadata
import Synchronization
import Testing

@testable import tumbler
@testable import tumbler_service

@Suite("Progress of the commands that may take long")
struct CommandProgressTests {
    /// What a terminal would have shown nine seconds after a command began, once its work was done.
    private final class Terminal: Sendable {
        private let seconds = Mutex<UInt64>(0)
        private let made = Mutex<[WorkProgress]>([])
        private let texts = Mutex<[String]>([])

        /// Runs a command, and returns the lines of its pieces of work.
        func lines(of command: () async throws -> Void) async throws -> [String] {
            let maker: @Sendable (String, Int?) -> WorkProgress = { what, total in
                let progress = WorkProgress(
                    what, of: total, clock: { self.seconds.withLock { $0 * 1_000_000_000 } },
                    show: { text in self.texts.withLock { $0.append(text) } })
                self.made.withLock { $0.append(progress) }
                return progress
            }
            try await WorkProgress.$maker.withValue(maker) { try await command() }
            self.seconds.withLock { $0 = 9 }
            for progress in self.made.withLock({ $0 }) { progress.look() }
            return self.texts.withLock { $0 }.map { String($0.drop { $0 != "t" }) }
        }
    }

    @Test("evaluate --batch counts the questions that are answered")
    func batchCountsTheQuestionsThatAreAnswered() async throws {
        try await withTemporaryFolder { folder in
            let question = BatchQuestionLine(id: .number(1), host: "a.example", chain: [], roots: [])
            let file = try folder.write(
                String(repeating: try question.line() + "\n", count: 600), as: "questions.jsonl")
            let lines = try await Terminal().lines {
                try await Tumbler.run(["evaluate", "--batch", file.path]) { _ in }
            }
            #expect(lines == ["tumbler: questions answered: 600, 9 s"])
        }
    }

    @Test("probe counts the addresses of its hosts that are asked, those that do not answer, too")
    func probeCountsTheAddressesOfItsHostsThatAreAsked() async throws {
        try await ProbeScene.with { scene in
            try scene.publish(try [ProbeScene.host, "www.example.com", "shop.example.com"].map { try scene.entry($0) })
            func file(_ name: String) -> String { scene.folder.appendingPathComponent(name).path }
            let lines = try await Terminal().lines {
                // The certificate is for one of the three hosts.
                let error = await #expect(throws: CommandError.self) {
                    try await Tumbler.run([
                        "probe", file("bundled.json"), "--root", file("root.json"), "--roots", file("anchors.pem"),
                        "--connect-to", "::127.0.0.1:\(scene.server.port)", "--previous", file("previous.json"),
                    ]) { _ in }
                }
                #expect(error?.exitCode == .doesNotHold)
            }
            #expect(lines == ["tumbler: addresses asked: 3 of 3, 9 s"])
        }
    }

    @Test("simulate counts its installations, on however many cores they are run")
    func simulateCountsItsInstallations() async throws {
        try await withTemporaryFolder { folder in
            let scenario = "clients: 2001\ndays: 2\nopened: {model: daily, share: 0.5}\n"
            let file = try folder.write(scenario, as: "s.yaml")
            let lines = try await Terminal().lines { try await Tumbler.run(["simulate", file.path]) { _ in } }
            #expect(lines == ["tumbler: installations simulated: 2001 of 2001, 9 s"])
        }
    }

    @Test("backup says that it copies, for as long as it does")
    func backupSaysThatItCopies() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.tumbler(["serve", "--migrate", "--data-dir", "data"], in: folder).expectResult()
            let copy = folder.appendingPathComponent("copy.sqlite").path
            let lines = try await Terminal().lines {
                try await StandardOutput.$taker.withValue({ _ in }) {
                    let data = folder.appendingPathComponent("data").path
                    try await BackupCommand.parse([copy, "--data-dir", data]).run()
                }
            }
            #expect(lines == ["tumbler: copying the database, 9 s"])
            #expect(FileManager.default.fileExists(atPath: copy))
        }
    }
}
