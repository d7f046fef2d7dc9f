// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository
import PinRotation

/// Decides whether deploying a certificate would lock clients out.
struct GateCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Say whether a certificate may be deployed without locking clients out.",
        discussion: """
            Evaluates a certificate before a server presents it. FILE is its chain (PEM, leaf first), or a certificate \
            request or a key of which there is no certificate yet: then pins of the server's own key are compared, and \
            an entry that needs the issuer's pin is unknown. The chain is validated for HOST and then evaluated by the \
            newest list and by every list that installations may still hold.

            The first rule that applies decides. 1: the chain is invalid, for another host, denied or refused by the \
            newest list: unsafe. 2: less than 7 days are left of it, or less than a third of a lifetime of up to 21 \
            days: unsafe. 3: where the service measured which lists installations hold: safe when at most --max-refusing \
            percent of the requests name a list that refuses it, else unsafe. 4: where it did not: safe when every list \
            of the last propagation accepts it, else unknown; also unknown when the service's own list cannot be had. A \
            host that no list covers is unknown. An entry that enforces Certificate Transparency is asked for it as \
            clients are: a key alone is unknown then.

            With a service and a token the answer goes into the audit log of the service. Without a project folder \
            --name and --server say which list is meant.

            Exit code 0: safe; 1: unsafe; 2: unknown, which is not safe.
            """
    )

    @Argument(help: "The host that will present the certificate, without a port.", transform: Self.host)
    var host: HostName

    @Option(
        help: ArgumentHelp(
            "The material to deploy: a chain in PEM, leaf first, a request or a key; - is standard input.",
            valueName: "file"), completion: .file())
    var certificate: String

    @Option(
        help: ArgumentHelp("The anchors of the certificate; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    @Option(
        name: .customLong("max-refusing"),
        help: ArgumentHelp("The share that may refuse it, where that is measured.", valueName: "percent")
    )
    var maxRefusing: Double = GateRules.usualMaxRefusing

    @Option(help: ArgumentHelp("The name of the list; by default that of the project.", valueName: "name"))
    var name: String?

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @OptionGroup var project: ProjectOption

    @Flag(help: "Print the answer as JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        guard (0...100).contains(self.maxRefusing) else {
            throw ValidationError("--max-refusing is a number from 0 to 100")
        }
    }

    func run() async throws {
        let time = self.time.time
        let file = try GateFile(self.certificate)
        let lists = try await GateLists.load(self.project, name: self.name, self.service, at: time)
        let (material, lifetimes) = try await file.material(
            for: self.host,
            roots: { () throws(CommandError) in try self.service.connection.connections.roots(self.roots) }, at: time)
        let rules: GateRules
        do throws(InputError) {
            rules = try lists.rules(maxRefusing: self.maxRefusing, at: time)
        } catch {
            throw CommandError(.undecided, "no rules can be made of a list: \(error)")
        }
        let answer = rules.answer(for: self.host, material, lifetimes: lifetimes)
        await self.record(GateRecord(answer, certificate: file.digest), lists)
        if self.json { try JSONOutput.write(answer) } else { try StandardOutput.write(lines: GateLines.lines(answer)) }
        switch answer.verdict {
        case .safe: break
        case .unsafe: throw ExitCode(CommandExit.doesNotHold.rawValue)
        case .unknown: throw ExitCode(CommandExit.undecided.rawValue)
        }
    }

    /// Puts the answer into the audit log of the service, where there is one and a token for it. The answer is the same
    /// when that fails.
    private func record(_ record: GateRecord, _ lists: GateLists) async {
        do {
            guard let address = lists.service, let token = try self.service.token(for: address) else { return }
            try await self.service.client(address, token).record(Array(try JSONOutput.line(record)), of: lists.name)
        } catch {
            let reason = (error as? CommandError)?.message ?? "\(error)"
            StandardError.warning("this answer is not in the audit log: \(reason)")
        }
    }

    private static func host(_ text: String) throws -> HostName {
        try HostArgument.host(text)
    }
}

/// The answer of the gate, for people.
enum GateLines {
    /// The lines; the first one says it.
    static func lines(_ answer: GateAnswer) -> [String] {
        let colour: Colour =
            switch answer.verdict {
            case .safe: .green
            case .unsafe: .red
            case .unknown: .yellow
            }
        let verdict = answer.verdict.rawValue
        var lines = [colour.word(verdict, of: "\(answer.host): \(verdict). \(answer.reason)")]
        if let noted = answer.notedHostname { lines.append("  entry: \(noted)") }
        if let matched = answer.matched {
            lines.append("  matched: \(matched.pin), position \(matched.position.rawValue)")
        }
        let refusing = answer.refusing
        if let share = refusing.share {
            lines.append(
                "  refusing: \(Share.percent(share)) of \(refusing.requests) requests in \(refusing.hours)h")
        } else {
            lines.append("  refusing: not measured")
        }
        return lines
    }
}
