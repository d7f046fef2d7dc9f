// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Subprocess
import UnixSignals

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// The ends of a bench: its work, a signal, or the time. All three lead to the results.
enum InterceptionTurns {
    /// Lines of standard input, read when the first one is asked for.
    struct Lines: Sendable {
        /// Waits for a line.
        ///
        /// - Returns: Whether there was one; not at the end.
        func next() async -> Bool {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: readLine() != nil) }
            }
        }

        /// Waits until the bench ends.
        func never() async { try? await Task.sleep(for: .seconds(1 << 31)) }
    }

    /// Runs `body` to its end, to a signal, or for so long.
    static func run(seconds: Int64, _ body: @escaping @Sendable (Lines) async throws -> Void) async throws {
        let ends = AsyncThrowingStream<Void, any Error>.makeStream()
        let tasks = [
            Task {
                do {
                    try await body(Lines())
                    ends.continuation.finish()
                } catch {
                    ends.continuation.finish(throwing: error)
                }
            },
            Task {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) { break }
                ends.continuation.finish()
            },
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                ends.continuation.finish()
            },
        ]
        defer { for task in tasks { task.cancel() } }
        for try await _ in ends.stream {}
    }
}

/// A client that is run by the bench, one time for each case.
struct InterceptedClient: Sendable {
    /// The environment of the client.
    struct Scene: Sendable {
        let name: String
        let host: String
        let address: String
        let port: Int
        let isProxy: Bool
        let authority: String?

        /// The variables.
        var variables: [String: String] {
            var variables = [
                "TUMBLER_CASE": self.name, "TUMBLER_HOST": self.host, "TUMBLER_ADDRESS": self.address,
                "TUMBLER_PORT": "\(self.port)",
            ]
            if self.isProxy {
                variables["TUMBLER_PROXY"] = "http://\(ServerAddress.text(self.address, self.port))"
            }
            if let authority { variables["TUMBLER_CA"] = URL(fileURLWithPath: authority).path }
            return variables
        }
    }

    /// The maximum time that it may take for one case, in seconds (formats.md, section 8).
    private static let maximumSeconds = 600.0
    /// The exit codes of `env` when there is no such program, or none that can be run.
    private static let notThere: ClosedRange<Int32> = 126...127

    /// The program and its arguments.
    let words: [String]

    /// Runs it to its end. What it prints goes to standard error; how it ends says nothing.
    ///
    /// - Throws: ``CommandError`` when it cannot be started.
    func run(_ scene: Scene) async throws {
        var options = PlatformOptions()
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(5))]
        let variables = scene.variables.map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) }
        let configuration = Configuration(
            executable: .path("/usr/bin/env"), arguments: Arguments(self.words),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: variables)), platformOptions: options)
        let status = try await withThrowingTaskGroup(of: TerminationStatus?.self) { group in
            group.addTask {
                do {
                    return try await Subprocess.run(
                        configuration, input: .none, output: .currentStandardError, error: .currentStandardError
                    ).terminationStatus
                } catch let error as SubprocessError {
                    throw CommandError(.undecided, "\(self.words[0]) cannot be started: \(error)")
                }
            }
            group.addTask {
                try await Task.sleep(for: .seconds(Self.maximumSeconds))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if case .exited(let code)? = status, Self.notThere.contains(code) {
            throw CommandError(
                .undecided, "\(self.words[0]) cannot be run", hint: "the command stands behind --, as for env")
        }
    }
}
