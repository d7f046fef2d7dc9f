// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A process that was run to its end.
struct FinishedProcess: Sendable {
    /// The most seconds that a process may take, on a machine however slow; then it is ended, by its id.
    static let maximumSeconds = 600.0

    /// The exit code; the negative number of the signal that ended it.
    let status: Int32

    let output: Data
    let errors: Data
    let seconds: Double

    /// Runs a process.
    ///
    /// Output goes into files, not pipes: a file need not be emptied while the process runs, and no sibling that is
    /// started at the same moment holds the other end of it.
    ///
    /// - Parameter seconds: How long it may take; then it is killed.
    static func run(
        _ executable: URL, _ arguments: [String], in folder: URL, standardInput: URL? = nil,
        killedAfter seconds: Double = Self.maximumSeconds
    ) async throws -> FinishedProcess {
        await ProcessSlots.all.take()
        do {
            let finished = try await self.runInSlot(
                executable, arguments, in: folder, standardInput: standardInput, killedAfter: seconds)
            await ProcessSlots.all.give()
            return finished
        } catch {
            await ProcessSlots.all.give()
            throw error
        }
    }

    private static func runInSlot(
        _ executable: URL, _ arguments: [String], in folder: URL, standardInput: URL?, killedAfter limit: Double
    ) async throws -> FinishedProcess {
        let outputs = ["out", "err"].map { folder.appendingPathComponent("\(UUID().uuidString).\($0)") }
        for output in outputs { try Data().write(to: output) }
        defer { for output in outputs { try? FileManager.default.removeItem(at: output) } }
        let handles = try outputs.map { try FileHandle(forWritingTo: $0) }
        let input = try FileHandle(forReadingFrom: standardInput ?? URL(fileURLWithPath: "/dev/null"))

        let start = DispatchTime.now().uptimeNanoseconds
        let process = try ChildProcess(
            executable, arguments, in: folder, input: input.fileDescriptor, output: handles[0].fileDescriptor,
            errors: handles[1].fileDescriptor)
        let killing = process.endLater(seconds: limit)
        let (status, end) = await process.end()
        killing.cancel()
        withExtendedLifetime((handles, input)) {}
        let seconds = Double(end - start) / 1e9
        let texts = try outputs.map { try Data(contentsOf: $0) }
        return FinishedProcess(status: status, output: texts[0], errors: texts[1], seconds: seconds)
    }
}
