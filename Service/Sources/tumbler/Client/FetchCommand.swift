// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import Foundation
import NIOCore
import NIOHTTP1
import PinListClient

/// A pinned GET with the client library, like curl.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Get a page as a pinned app would: nothing is sent before the pins have matched.",
        discussion: """
            The pins come with --pin, from the list that an app ships (--bundled, --root), from an app's client that \
            refreshes its list first (--list-url, --root, --state), or from the project folder. The body goes to \
            standard output, also when the status is an error. At most five redirects are followed, and each host is \
            evaluated for itself. A redirect from a public host to localhost, or to a loopback or private address, is \
            not followed unless --allow-local-redirects is given. Exit code 0: fetched, 1: refused, 2: the network or \
            a file failed.

            --decision prints what was decided in place of the body, one decision for each host on the way.
            """
    )

    @Argument(help: "The address: https://…")
    var url: String

    @OptionGroup var source: PinSource

    @OptionGroup var connection: ConnectionOptions

    @Flag(
        name: .customLong("allow-local-redirects"),
        help: "Follow redirects from a public host to this machine, or into a private network."
    )
    var allowsLocalRedirects = false

    @Flag(help: "Print the decision, and not the body.")
    var decision = false

    @Flag(help: "With --decision: as JSON, a line for each decision.")
    var json = false

    @Flag(help: "A status of 400 or more is a failure, and its body is not printed.")
    var fail = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.json, !self.decision { throw ValidationError("--json goes with --decision") }
    }

    func run() async throws {
        guard let address = FetchAddress(self.url) else {
            // It is not repeated: a password may be in it.
            throw CommandError(
                .usage, "not an https or http URL", hint: "https://HOST/PATH, without name and password")
        }
        let connections = self.connection.connections
        // What is wrong with the anchors is said before a list is fetched.
        _ = try connections.tls()
        let pinning = try await self.source.pinning(for: address.host, at: self.time.time, by: connections)
        await self.source.sayStale(pinning)
        let fetch = PinnedFetch(
            by: pinning, connections: connections, allowsLocalRedirects: self.allowsLocalRedirects)
        do {
            try await fetch.get(address, decided: self.tell) { try await self.take($0) }
        } catch let refusal as PinningError {
            throw try self.ending(refusal.decision)
        }
    }

    /// Shows a decision, or says that it did not come of a pin.
    private func tell(_ decision: PinningDecision) throws {
        if self.decision { return try self.show(decision) }
        if decision.reason != .pinMatch { StandardError.note(decision.firstLine) }
    }

    private func show(_ decision: PinningDecision) throws {
        if self.json { try JSONOutput.write(decision) } else { try StandardOutput.write(lines: [decision.description]) }
    }

    /// The exit of the command for a refusal.
    private func ending(_ decision: PinningDecision) throws -> any Error {
        guard !self.decision else {
            try self.show(decision)
            return ExitCode(CommandExit.doesNotHold.rawValue)
        }
        let detail = decision.detail.map { ": \($0)" } ?? ""
        return CommandError(
            .doesNotHold, "\(decision.firstLine.dropLast())\(detail)",
            hint: "--decision shows the expected and the presented pins")
    }

    /// Writes a body as it arrives.
    private func take(_ response: HTTPClientResponse) async throws {
        if self.fail, response.status.code >= 400 {
            throw CommandError(.undecided, "the server answers \(response.status.code)")
        }
        guard !self.decision else { return }
        for try await bytes in response.body { try StandardOutput.write(Data(bytes.readableBytesView)) }
    }
}

extension PinningDecision {
    /// The verdict in one line.
    fileprivate var firstLine: String { String(self.description.prefix { $0 != "\n" }) }
}
