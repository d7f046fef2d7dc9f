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

    /// The most clients: each has contexts of TLS of its own.
    static let mostClients = 2_000

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
        guard (1...Self.mostClients).contains(self.count) else {
            throw ValidationError("--count is a number from 1 to \(Self.mostClients)")
        }
        guard URL(string: self.listURL) != nil else { throw ValidationError("--list-url is no address") }
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
