// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningURLSession

/// Asks the system each question, and prints a row for each: its name, the answer, and whether it is what was hoped for.
@main
enum Tool {
    static func main() async {
        guard let place = Place(CommandLine.arguments) else {
            print("usage: what-a-mac-shows HTTPS-ADDRESS HTTP-ADDRESS PIN [HTTP-3-ADDRESS]")
            exit(2)
        }
        var isGood = true
        print("| question | answer | as hoped for |")
        print("|---|---|---|")
        for question in Question.all {
            let answer = await question.answer(at: place)
            print("| `\(question.name)` | \(answer.text) | \(answer.verdict) |")
            isGood = isGood && answer.isGood != false
        }
        exit(isGood ? 0 : 1)
    }
}

/// Where the questions are asked.
struct Place: Sendable {
    /// A server with TLS on loopback, whose authority the system trusts.
    let secure: URL
    /// The same server without TLS: it says how many requests it got.
    let plain: URL
    /// A pin that the server has.
    let pin: String
    /// A server that speaks HTTP/3, if there is one to ask.
    let http3: URL?

    init?(_ arguments: [String]) {
        guard arguments.count > 3, let secure = URL(string: arguments[1]), let plain = URL(string: arguments[2]) else {
            return nil
        }
        self.secure = secure
        self.plain = plain
        self.pin = arguments[3]
        self.http3 = arguments.count > 4 ? URL(string: arguments[4]) : nil
    }

    /// A pin that no server has.
    static var wrongPin: Pin { Pin(kind: .publicKey, hashing: [1, 2, 3]) }

    /// A client that pins a host.
    func pinning(_ pin: Pin? = nil, host: String? = nil) throws -> Pinning {
        let host = try HostName(host ?? self.secure.host ?? "")
        let pin = try pin ?? Pin(self.pin)
        return Pinning(policy: try PinningPolicy(domains: [PinnedDomain(host, pins: [KnownPin(pin)])]))
    }

    /// How many requests the server has had.
    func requests() async -> Int {
        guard let url = URL(string: self.plain.absoluteString + "count"),
            let (data, _) = try? await URLSession(configuration: .ephemeral).data(for: URLRequest(url: url))
        else { return -1 }
        return Int(String(decoding: [UInt8](data), as: UTF8.self)) ?? -1
    }
}

/// The outcome of a question.
struct Answer: Sendable {
    let text: String
    /// Whether it is what was hoped for; `nil` for a person to evaluate.
    let isGood: Bool?

    init(_ text: String, _ isGood: Bool? = nil) {
        self.text = text
        self.isGood = isGood
    }

    var verdict: String { self.isGood.map { $0 ? "yes" : "**no**" } ?? "look" }
}

/// A question of docs/what-a-mac-has-to-show.md.
struct Question: Sendable {
    let name: String
    let ask: @Sendable (Place) async throws -> Answer

    init(_ name: String, _ ask: @escaping @Sendable (Place) async throws -> Answer) {
        self.name = name
        self.ask = ask
    }

    /// The answer, or that there was none within a minute.
    func answer(at place: Place) async -> Answer {
        let first = First()
        return await withCheckedContinuation { continuation in
            Task {
                let answer: Answer
                do { answer = try await self.ask(place) } catch { answer = Answer("failed: \(error)", false) }
                if first.isNow() { continuation.resume(returning: answer) }
            }
            Task {
                try? await Task.sleep(nanoseconds: 60_000_000_000)
                if first.isNow() { continuation.resume(returning: Answer("unknown: nothing within a minute")) }
            }
        }
    }
}

/// Says to the first who asks that he is.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class First: @unchecked Sendable {
    private let lock = NSLock()
    private var isTaken = false

    func isNow() -> Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        defer { self.isTaken = true }
        return !self.isTaken
    }
}
