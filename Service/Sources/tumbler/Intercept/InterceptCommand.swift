// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import InterceptionBench
import NIOCore
import PinListRepository

/// A man in the middle for testing clients.
struct InterceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intercept",
        abstract: "Intercept a client in every way, and count the bytes that it sends.",
        discussion: """
            Stands in front of a server, and intercepts in one way after the other; a client that pins sends nothing in \
            any of them, and its request in the control. Each case has a port, from that of --listen on, in the order of \
            the cases: as a reverse proxy (map the host to this machine), or with --proxy as an HTTP proxy. With \
            --in-turn all of them have one port, and a line on standard input goes on to the next.

            With a command behind --, the command is run once for each case (twice for resumption) with the case in \
            TUMBLER_CASE, and TUMBLER_HOST, TUMBLER_ADDRESS, TUMBLER_PORT, TUMBLER_PROXY and TUMBLER_CA in its \
            environment. Without one the bench runs until it is interrupted, or for --for.

            Then a line for each case: refused before a byte, ACCEPTED with the number of request bytes, or no client \
            came. Exit code 0: no interceptor got a byte; 1: one got some; 2: nothing was shown, or the client of -- \
            did not come to every case, or a file or the network failed.
            """
    )

    @OptionGroup var target: InterceptTarget

    @Option(help: ArgumentHelp("The address on which the bench listens. Port 0: any.", valueName: "address:port"))
    var listen: String = "127.0.0.1:8443"

    @Flag(help: "Be an HTTP proxy: clients ask with CONNECT.")
    var proxy = false

    @Flag(name: .customLong("tunnel-others"), help: "With --proxy: let other hosts pass, without interception.")
    var tunnelsOthers = false

    @Flag(name: .customLong("in-turn"), help: "Play all cases on one port; a line on standard input plays the next.")
    var inTurn = false

    @Option(
        name: .customLong("for"), help: ArgumentHelp("The maximum time that the bench runs.", valueName: "duration"),
        transform: Self.duration)
    var maximum: Int64 = 3_600

    @OptionGroup var output: InterceptOutput

    @Flag(help: "Listen where others in the network can reach it, without a question.")
    var yes = false

    @Flag(name: .customLong("list-cases"), help: "Print the cases and what they show, and exit.")
    var listsCases = false

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The client, behind --.", valueName: "command"))
    var client: [String] = []

    func validate() throws {
        if self.tunnelsOthers, !self.proxy { throw ValidationError("--tunnel-others goes with --proxy") }
        guard BenchAddress(self.listen) != nil else {
            throw ValidationError("--listen \(self.listen): it is written ADDRESS:PORT, such as 127.0.0.1:8443")
        }
        if !self.listsCases, self.target.upstream == nil {
            throw ValidationError("--upstream is missing: the host that clients ask for, as HOST or HOST=ADDRESS:PORT")
        }
    }

    func run() async throws {
        if self.listsCases {
            guard self.output.json else {
                return try StandardOutput.write(lines: InterceptionCase.all.map { "\($0.name): \($0.shows)" })
            }
            return try JSONOutput.write(InterceptionCase.all)
        }
        guard let place = BenchAddress(self.listen) else { return }
        try self.expectConsent(to: place)
        let time = Timestamp(roundingDown: Date().timeIntervalSince1970)
        let (server, cases, policies) = try await self.target.load()
        let bench: InterceptionBench
        do { bench = try InterceptionBench(before: server, cases: cases, policies: policies, at: time) } catch {
            throw CommandError(.undecided, "a case cannot be set up: \(Self.words(for: error))")
        }
        let ports = try await self.start(bench, at: place)
        do {
            try self.output.announce(bench, zip(cases, ports).map { ($0.name, place.text(port: $1)) })
            try await self.play(bench, cases, ports, place, server.host)
        } catch {
            await bench.stop()
            throw error
        }
        await bench.settle()
        await bench.stop()
        let report = InterceptionReport(
            of: server.host, at: time, isClientRun: !self.client.isEmpty, bench.results)
        try self.output.write(report)
        switch report.verdict {
        case .holds: break
        case .doesNotHold: throw ExitCode(CommandExit.doesNotHold.rawValue)
        case .undecided(let detail):
            throw CommandError(
                .undecided, detail, hint: "let the client ask https://\(server.host)/ at the ports that were named")
        }
    }

    private func expectConsent(to place: BenchAddress) throws(CommandError) {
        guard !place.isLoopback, !self.yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandError(
                .usage,
                "on \(place.host) others in the network can reach the bench, and there is no terminal to ask at",
                hint: "--yes, or --listen 127.0.0.1:8443")
        }
        guard SigningConsent.ask("On \(place.host) others in the network can reach the bench. Listen there?") else {
            throw CommandError(.undecided, "nothing was done")
        }
    }

    private func start(_ bench: InterceptionBench, at place: BenchAddress) async throws -> [Int] {
        do {
            return try await bench.start(
                InterceptionBench.Listening(
                    address: place.host, port: place.port, isProxy: self.proxy, tunnelsOthers: self.tunnelsOthers,
                    isInTurn: self.inTurn))
        } catch {
            await bench.stop()
            let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
            let reason = isTaken ? "a port is in use already" : Self.words(for: error)
            throw CommandError(
                .undecided, "--listen \(self.listen): \(reason)",
                hint: "each case has a port, from that one on; --in-turn needs one port, and port 0 takes any")
        }
    }

    private func play(
        _ bench: InterceptionBench, _ cases: [InterceptionCase], _ ports: [Int], _ place: BenchAddress,
        _ host: HostName
    ) async throws {
        let client = self.client.isEmpty ? nil : InterceptedClient(words: self.client)
        let (isProxy, inTurn, authority) = (self.proxy, self.inTurn, self.output.authority)
        try await InterceptionTurns.run(seconds: self.maximum) { lines in
            for (index, (played, port)) in zip(cases, ports).enumerated() {
                if inTurn {
                    bench.play(at: index)
                    if client == nil {
                        StandardError.told("\(played.name): \(played.shows). A line here goes on.")
                    }
                }
                guard let client else {
                    guard inTurn else { return await lines.never() }
                    guard await lines.next() else { return }
                    await bench.settle()
                    continue
                }
                let scene = InterceptedClient.Scene(
                    name: played.name, host: host.description, address: place.reachable, port: port, isProxy: isProxy,
                    authority: authority)
                for _ in 0..<(played.name == "resumption" ? 2 : 1) { try await client.run(scene) }
                await bench.settle()
            }
        }
    }

    private static func words(for error: any Error) -> String {
        switch error as? InterceptionError {
        case .noPresentedChain: "the server's own certificate cannot be read"
        case .noIntermediate: "there is no --intermediate"
        case .intermediate(let reason): "--intermediate: \(reason)"
        case .ports: "there are not enough ports behind it"
        case nil: "\(error)"
        }
    }

    private static func duration(_ text: String) throws -> Int64 {
        guard let seconds = SourceDuration.seconds(of: text) else {
            throw ValidationError("--for \(text): write \(SourceDuration.form)")
        }
        return seconds
    }
}
