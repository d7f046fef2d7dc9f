// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Whoever repairs what a drill breaks: a person at a terminal, or a test.
protocol OnCallPerson: Sendable {
    /// What is typed, a line each, one for each ``ask()``. It ends when nothing more can come.
    var lines: AsyncStream<String> { get }

    /// Says that a line is waited for.
    func ask()

    /// Tells the person something, in one line.
    func tell(_ line: String)

    /// Runs a line of shell in the project of the drill, for a person who typed it here.
    ///
    /// - Returns: Its exit code.
    func run(_ line: String, in folder: String, tokenFile: String) async -> Int32
}
