// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListClient
import PinListRepository

/// A drill as a whole: a folder, the stage in it, what happens, and nothing left behind.
enum Drill {
    /// Holds one.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - source: The source of the real project, which is only read.
    ///   - host: The host; `nil` for the first that can be drilled.
    ///   - isAutomatic: Whether the drill runs without a person.
    ///   - clock: The clock that times everything.
    ///   - person: The person who takes part, or who is shown the progress.
    /// - Throws: ``CommandError`` when it cannot be held; `CancellationError`.
    static func run(
        _ scenario: DrillScenario, copying source: ListSource, host: String?, isAutomatic: Bool,
        clock: any PinningClock, person: any OnCallPerson
    ) async throws -> DrillRecord {
        try await self.withFolder { folder in
            try await DrillStage.with(copying: source, host: host, in: folder) { stage in
                var run = try await DrillRun(
                    scenario, on: stage, isAutomatic: isAutomatic, clock: clock, person: person)
                if isAutomatic { try await run.repair() } else { try await run.waitForPerson() }
                return run.finished
            }
        }
    }

    /// A folder that only its owner sees, removed in any case.
    private static func withFolder<Result: Sendable>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tumbler-drill-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError(
                .undecided, "\(folder.path) cannot be made", hint: "look at TMPDIR, its rights, and the disk")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }
}
