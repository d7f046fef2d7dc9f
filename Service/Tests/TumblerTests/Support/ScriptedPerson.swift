// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import NIOConcurrencyHelpers
import PinningTesting

@testable import tumbler

/// A person of a drill who types what a test says, each line so many seconds after the one before.
final class ScriptedPerson: OnCallPerson {
    /// In place of an editor: adds the pin of what the server presents.
    static let addPin = "add the pin of the server"

    let lines: AsyncStream<String>
    private let typed: AsyncStream<String>.Continuation
    private let script: NIOLockedValueBox<[(after: Int64, line: String)]>
    private let heard = NIOLockedValueBox<[String]>([])
    private let clock: ManualClock

    init(_ script: [(after: Int64, line: String)], _ clock: ManualClock) {
        (self.lines, self.typed) = AsyncStream.makeStream(of: String.self)
        self.script = NIOLockedValueBox(script)
        self.clock = clock
    }

    /// The lines that the person was shown.
    var told: [String] { self.heard.withLockedValue { $0 } }

    func ask() {
        let next = self.script.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
        guard let next else { return self.typed.finish() }
        self.clock.advance(by: next.after)
        self.typed.yield(next.line)
    }

    func tell(_ line: String) { self.heard.withLockedValue { $0.append(line) } }

    /// Runs `tumbler …` in this process, in place of a shell.
    func run(_ line: String, in folder: String, tokenFile: String) async -> Int32 {
        guard line != Self.addPin else { return await self.addPin(in: folder) }
        var words = line.split(separator: " ").map(String.init)
        guard words.removeFirst() == "tumbler" else { return 127 }
        words += ["-C", folder]
        if words.first == "release" { words += ["--token-file", tokenFile] }
        do throws(CommandError) { try await Tumbler.run(words) { self.tell($0) } } catch {
            return error.exitCode.rawValue
        }
        return 0
    }

    private func addPin(in folder: String) async -> Int32 {
        let server = self.told.compactMap { $0.split(separator: " ").first { $0.hasPrefix("localhost:") } }.first
        guard let server else { return 1 }
        let pins = NIOLockedValueBox<[String]>([])
        let file = URL(fileURLWithPath: folder).appendingPathComponent("tumbler.yaml")
        do {
            try await Tumbler.run(["pin", server.filter { $0 != "," }]) { line in
                pins.withLockedValue { $0.append(line) }
            }
            let pin = pins.withLockedValue { $0 }.first { $0.hasPrefix("sha256/") }?.prefix { $0 != " " } ?? ""
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            // The host of the drill is the last entry of the scene.
            var lines = text.components(separatedBy: "\n")
            let last = lines.lastIndex { $0.contains("- {pin: ") } ?? 0
            lines.insert("      - {pin: \"\(pin)\", note: \"new\"}", at: last + 1)
            try Data(lines.joined(separator: "\n").utf8).write(to: file, options: .atomic)
        } catch { return 1 }
        return 0
    }
}
