// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import tumbler

/// A person of a drill who is asked, and types nothing.
final class WaitingPerson: OnCallPerson {
    let lines: AsyncStream<String>
    /// Gives a value each time when a line is waited for.
    let asked: AsyncStream<Void>
    private let typed: AsyncStream<String>.Continuation
    private let asking: AsyncStream<Void>.Continuation
    private let found = NIOLockedValueBox<String?>(nil)

    init() {
        (self.lines, self.typed) = AsyncStream.makeStream(of: String.self)
        (self.asked, self.asking) = AsyncStream.makeStream(of: Void.self)
    }

    /// The folder of the project that the person was told.
    var project: String? { self.found.withLockedValue { $0 } }

    func ask() { self.asking.yield() }

    func tell(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2, words[0] == "project" else { return }
        self.found.withLockedValue { $0 = words[1] }
    }

    func run(_ line: String, in folder: String, tokenFile: String) async -> Int32 { 127 }
}
