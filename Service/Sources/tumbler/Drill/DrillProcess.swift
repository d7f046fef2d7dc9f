// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOConcurrencyHelpers
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A program that runs beside a drill, in a process group of its own: what is typed at the terminal ends the drill, which
/// ends it. It is given no standard input, and none of the settings of this machine's own service.
struct DrillProcess: Sendable {
    /// The maximum time to end after SIGTERM, in seconds; then it is killed. The service takes 25 at most.
    private static let secondsToEnd = 30
    /// The maximum number of bytes that are kept of what a program writes: enough for the lines that say what went
    /// wrong.
    private static let maximumOutputBytes = 65_536

    /// Lines of its standard output, until it ends.
    private let lines: AsyncStream<String>
    /// The text that it wrote to standard error so far.
    private let errors = NIOLockedValueBox("")
    /// A task of its own: a drill that is interrupted waits for it all the same.
    private let end: Task<Void, any Error>

    /// Starts it. Where it cannot be started, it ends at once, and ``stop()`` says why.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: What stands behind its name.
    init(_ path: String, _ arguments: [String]) {
        let (lines, line) = AsyncStream<String>.makeStream()
        self.lines = lines
        let errors = self.errors
        self.end = Task {
            defer { line.finish() }
            _ = try await run(Self.configuration(path, arguments), input: .none, output: .sequence, error: .sequence) {
                async let said: Void = Self.keep($0.standardError, in: errors)
                for try await text in $0.standardOutput.strings() { line.yield(text) }
                try await said
            }
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: The first line of its standard output.
    /// - Throws: ``CommandError`` with what it says when its exit code is not 0, or there is no line.
    static func output(of path: String, _ arguments: [String]) async throws(CommandError) -> String {
        let limit = Self.maximumOutputBytes
        let configuration = Self.configuration(path, arguments)
        let name = "\(URL(fileURLWithPath: path).lastPathComponent) \(arguments.first ?? "")"
        do {
            let ended = try await run(
                configuration, input: .none, output: .string(limit: limit), error: .string(limit: limit))
            if ended.terminationStatus.isSuccess, let line = ended.standardOutput.split(separator: "\n").first {
                return String(line)
            }
            let said = PrintableText.line(ended.standardError, maximumLength: 400)
            throw CommandError(.undecided, "\(name) ended with \(ended.terminationStatus): \(said)")
        } catch let failure as CommandError { throw failure } catch {
            throw CommandError(.undecided, "\(name) cannot be run: \(error)")
        }
    }

    /// Waits for the line of its standard output that begins with a word.
    ///
    /// - Returns: The text behind the word; `nil` when it ended without such a line.
    func line(after word: String) async -> String? {
        for await line in self.lines where line.hasPrefix(word) { return String(line.dropFirst(word.count)) }
        return nil
    }

    /// Asks it to end (SIGTERM), and waits until it has.
    ///
    /// - Returns: What it wrote to standard error, or why it was not started.
    @discardableResult
    func stop() async -> String {
        self.end.cancel()
        let end = await self.end.result
        var said = self.errors.withLockedValue { $0 }
        if said.isEmpty, case .failure(let error as SubprocessError) = end { said = "\(error)" }
        return PrintableText.line(said, maximumLength: 400)
    }

    private static func configuration(_ path: String, _ arguments: [String]) -> Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: false, allowedDurationToNextStep: .seconds(Self.secondsToEnd))
        ]
        // What is set for this machine's own service would be stronger than the file of the drill's.
        let settings = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TUMBLER_") }
        let removed = settings.map { (Environment.Key(stringLiteral: $0), String?.none) }
        return Configuration(
            executable: .path(FilePath(path)), arguments: Arguments(arguments),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: removed)), platformOptions: options)
    }

    private static func keep(_ output: SubprocessOutputSequence, in text: NIOLockedValueBox<String>) async throws {
        for try await line in output.strings() {
            text.withLockedValue { text in
                if text.utf8.count < Self.maximumOutputBytes { text += text.isEmpty ? line : "; \(line)" }
            }
        }
    }
}
