// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOPosix
import SimulatedInstallations

/// The installations of the demonstration: many clients in one process, each as an app has it, that do what standard
/// input says, one command a line, and answer each with one line of JSON.
@main
struct DemoClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-clients",
        abstract: "Simulated installations of a pinned app, for scripts/demo.",
        discussion: """
            Standard input, one command a line: refresh [COUNT] (the first COUNT clients ask for a newer list), fetch \
            PORT [COUNT PORT] (all get the page; the first COUNT are led to the second port), reports TOTAL (waits \
            until so many reports were answered). It ends with standard input.
            """
    )

    /// The maximum number of clients: each has contexts of TLS of its own.
    static let maximumClients = 2_000

    @Option(help: "How many.")
    var count: Int = 200

    @Option(help: "The root that the app ships.")
    var root: String

    @Option(help: "The list that the app ships.")
    var list: String

    @Option(help: "The base address of the list.")
    var listURL: String

    @Option(help: "The roots that the devices trust, PEM.")
    var cacert: String

    @Option(help: "The pinned host; it is asked on loopback.")
    var host: String

    func validate() throws {
        guard (1...Self.maximumClients).contains(self.count) else {
            throw ValidationError("--count is a number from 1 to \(Self.maximumClients)")
        }
        guard URL(string: self.listURL) != nil else { throw ValidationError("--list-url is not a URL") }
    }

    func run() async throws {
        let http = HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton))
        let population = try Population(
            self.count, shipping: self.root, self.list, refreshFrom: self.listURL, trusting: self.cacert,
            host: self.host, reportingOver: http)
        await Self.answer(CommandLines.standardInput(), population)
        await population.shutdown()
        try await http.shutdown()
    }

    /// Answers commands until there are no more.
    private static func answer(_ lines: AsyncStream<String>, _ population: Population) async {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        await withTaskGroup(of: Void.self) { group in
            var isRunning = false
            for await line in lines {
                let answer = await population.answer(line)
                let bytes = (try? encoder.encode(answer)) ?? Data()
                FileHandle.standardOutput.write(bytes + Data("\n".utf8))
                // Only now: a client that runs and has never refreshed does so at once.
                if answer.did == .refresh, !isRunning {
                    isRunning = true
                    for client in population.clients { group.addTask { await client.run() } }
                }
            }
            group.cancelAll()
        }
    }
}

/// The lines of standard input, as they come.
enum CommandLines {
    /// Reads them on a thread of its own: waiting for a line must not keep one from the clients.
    static func standardInput() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }
}

/// A command of the demonstration, read from one line.
enum PopulationCommand: Hashable, Sendable {
    /// The first of the clients ask for a newer list; all of them without a number.
    case refresh(first: Int?)
    /// All get their page from a port; the first of them are led to another port.
    case fetch(port: Int, intercepted: Int, interceptor: Int)
    /// Waits until so many reports were answered since the beginning.
    case reports(Int)

    /// Reads a line.
    ///
    /// - Returns: `nil` for one that is no command.
    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard let name = words.first, numbers.count == words.count - 1, numbers.allSatisfy({ $0 >= 0 }) else {
            return nil
        }
        switch (name, numbers.count) {
        case ("refresh", 0): self = .refresh(first: nil)
        case ("refresh", 1): self = .refresh(first: numbers[0])
        case ("fetch", 1): self = .fetch(port: numbers[0], intercepted: 0, interceptor: numbers[0])
        case ("fetch", 3): self = .fetch(port: numbers[0], intercepted: numbers[1], interceptor: numbers[2])
        case ("reports", 1): self = .reports(numbers[0])
        default: return nil
        }
    }
}

extension Population {
    /// Does what a line asks for.
    func answer(_ line: String) async -> PopulationAnswer {
        switch PopulationCommand(line) {
        case .refresh(let first): await self.refresh(first: first)
        case .fetch(let port, let intercepted, let interceptor):
            await self.fetch { $0 < intercepted ? interceptor : port }
        case .reports(let total): await self.reports(total)
        case nil: PopulationAnswer(did: .nothing)
        }
    }
}
