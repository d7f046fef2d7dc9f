// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A process that was run to its end.
struct FinishedProcess: Sendable {
    /// The most seconds that a process may take; then it is ended, by its id.
    static let longestSeconds = 30.0

    /// The exit code; the negative number of the signal that ended it.
    let status: Int32

    let output: Data
    let errors: Data
    let seconds: Double

    /// Runs a process.
    ///
    /// Output goes into files, not pipes: nobody has to empty a file while the process runs, and no sibling that is
    /// started at the same moment holds the other end of it.
    static func run(
        _ executable: URL, _ arguments: [String], in folder: URL, standardInput: URL? = nil
    ) async throws -> FinishedProcess {
        await ProcessSlots.all.take()
        do {
            let finished = try await self.runInSlot(executable, arguments, in: folder, standardInput: standardInput)
            await ProcessSlots.all.give()
            return finished
        } catch {
            await ProcessSlots.all.give()
            throw error
        }
    }

    private static func runInSlot(
        _ executable: URL, _ arguments: [String], in folder: URL, standardInput: URL?
    ) async throws -> FinishedProcess {
        let outputs = ["out", "err"].map { folder.appendingPathComponent("\(UUID().uuidString).\($0)") }
        for output in outputs { try Data().write(to: output) }
        defer { for output in outputs { try? FileManager.default.removeItem(at: output) } }
        let handles = try outputs.map { try FileHandle(forWritingTo: $0) }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = try standardInput.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = handles[0]
        process.standardError = handles[1]

        let start = DispatchTime.now().uptimeNanoseconds
        var limit: DispatchWorkItem?
        let (status, end) = try await withCheckedThrowingContinuation {
            (ended: CheckedContinuation<(Int32, UInt64), any Error>) in
            process.terminationHandler = { process in
                // Now, and not when the test goes on: others may be before it.
                let end = DispatchTime.now().uptimeNanoseconds
                let wasSignal = process.terminationReason == .uncaughtSignal
                ended.resume(returning: (wasSignal ? -process.terminationStatus : process.terminationStatus, end))
            }
            do {
                try ProcessStart.run(process)
                limit = Self.endLater(process.processIdentifier)
            } catch {
                ended.resume(throwing: error)
            }
        }
        limit?.cancel()
        let seconds = Double(end - start) / 1e9
        let texts = try outputs.map { try Data(contentsOf: $0) }
        return FinishedProcess(status: status, output: texts[0], errors: texts[1], seconds: seconds)
    }

    /// Ends a process of ours when it takes too long, unless it is cancelled before.
    static func endLater(_ process: Int32) -> DispatchWorkItem {
        let item = DispatchWorkItem { kill(process, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + self.longestSeconds, execute: item)
        return item
    }
}
