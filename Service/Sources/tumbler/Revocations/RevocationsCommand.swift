// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListRepository

/// The certificates of a project's hosts that their issuers revoked.
struct RevocationsCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revocations",
        abstract: "Find certificates of the project's hosts that were revoked, as lines for tumbler.yaml.",
        discussion: """
            It asks about the certificates that the hosts of tumbler.yaml serve, with each CA of their paths; with \
            --certificates about those of files; with --sightings about those that monitors found in logs, as the \
            service keeps them. The revocation lists (CRLs) are those of --crl and those that the certificates name: \
            http and https, at public addresses alone. A list counts when the issuer's key signed it, and it covers the \
            certificate.

            Standard output is YAML: lines for revoked: in tumbler.yaml, and comments. --write puts them there; tumbler \
            release puts the list out, and every installation refuses these certificates.

            Exit code 0: nothing is revoked; 1: something is; 2: no list covers a certificate, or it could not be asked \
            about, and nothing under 1 applies.
            """
    )

    @Option(
        name: .customLong("crl"), parsing: .upToNextOption,
        help: ArgumentHelp("Further revocation lists, DER or PEM: files or addresses.", valueName: "file|url"),
        completion: .file())
    var lists: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Ask about the certificates in these files, each a chain in PEM or one certificate in DER.",
            valueName: "file"), completion: .file())
    var certificates: [String] = []

    @Flag(help: "Ask about the certificates that the service keeps of logs.")
    var sightings = false

    @Flag(help: "Add what is revoked to tumbler.yaml.")
    var write = false

    @Option(help: ArgumentHelp("The name of the list at the service; else that of the project.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The anchors of the chains that are examined, in PEM, or the word system; else those of --cacert.",
            valueName: "file|system"), completion: .file())
    var roots: String?

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption

    @Flag(help: "Print what was found as JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        guard self.certificates.isEmpty || !self.sightings else {
            throw ValidationError("--certificates or --sightings: one of them")
        }
    }

    func run() async throws {
        let time = self.time.time
        // What cannot be written is said before a host is asked.
        var file: SourceFileEdit?
        if self.write { file = try await Self.undecided { try SourceFileEdit(self.project) } }
        let asked = try await Self.undecided { try await self.asked(at: time) }
        let outcome = try await RevocationListRequest(
            given: self.lists, time: time, connections: self.service.connection.connections
        ).ask(asked)
        let answer = RevocationAnswer(asked, outcome, at: time)
        for line in answer.troubles { StandardError.warning(line) }
        // Without --write a project is of use, and not needed.
        let known = try self.write ? file?.revoked() : (try? SourceFileEdit(self.project))?.revoked()
        if self.json {
            try JSONOutput.write(answer)
        } else {
            try StandardOutput.write(lines: answer.lines(known: known))
        }
        // What was found counts for more than that it cannot be written.
        if let file, let known {
            let missing = known.missing(answer.entries)
            if !missing.isEmpty {
                do { try file.write(try known.adding(missing)) } catch let error as RepositoryError {
                    throw CommandError(.doesNotHold, error.reason, hint: error.hint)
                }
                self.tellNext()
            }
        }
        if answer.isRevoked { throw ExitCode(CommandExit.doesNotHold.rawValue) }
        if answer.isUndecided { throw ExitCode(CommandExit.undecided.rawValue) }
    }

    /// Says what comes next, when the lines are written: where hosts were asked, one of them serves what is revoked.
    private func tellNext() {
        let written = "the lines are in \(ProjectFolder.sourceName)"
        guard self.certificates.isEmpty, !self.sightings else {
            return StandardError.note("\(written); tumbler release --live puts them out")
        }
        StandardError.warning(
            "\(written), and a host serves what they refuse: in every app, and no suspension relaxes that. Serve another "
                + "certificate first, then tumbler release --live")
    }

    /// Does something whose failure decides nothing: exit code 1 is for what is revoked.
    private static func undecided<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            let failure = (error as? RepositoryError).map { CommandError($0) } ?? (error as? CommandError)
            guard let failure, failure.exitCode == .doesNotHold else { throw error }
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
    }

    /// The certificates that are asked about.
    private func asked(at time: Timestamp) async throws -> AskedCertificates {
        var asked = AskedCertificates()
        let connections = self.service.connection.connections
        let roots = try connections.roots(self.roots)
        if self.sightings {
            let client = try self.service.requiredClient(self.project, scope: "probe")
            let kept = try await client.sightings(of: try self.project.listName(or: self.name))
            await asked.add(
                kept.map { ($0.certificate, $0.owner) }, among: kept.compactMap(\.issuer), roots)
        } else if !self.certificates.isEmpty {
            var told: [(certificate: [UInt8], owner: String)] = []
            for path in self.certificates {
                guard let chain = try ChainFile.certificates(in: InputFile.read(path), named: path) else {
                    throw CommandError(.undecided, "\(path): there is no certificate in it")
                }
                told += chain.map { ($0, path) }
            }
            await asked.add(told, among: [], roots)
        } else {
            let hosts = try SourceInput(nil, self.project).source.domains.map(\.host)
            let observer = HostObserver(
                validator: PathValidator(roots: roots, monotonicNanoseconds: monotonicNanoseconds),
                connections: connections, time: time)
            for (host, addresses) in zip(hosts, await observer.observe(hosts)) {
                // One that this machine has no route to says nothing of the server.
                let reached = addresses.filter { !$0.hasNoRoute }
                for address in reached.isEmpty ? addresses : reached { asked.add(address, of: host) }
            }
        }
        guard !asked.certificates.isEmpty || !asked.troubles.isEmpty else {
            throw CommandError(
                .undecided, "there is no certificate to ask about",
                hint: "name hosts in tumbler.yaml, or give --certificates FILE")
        }
        return asked
    }
}

extension AskedCertificates {
    /// Adds what was seen at an address of a host.
    mutating func add(_ seen: AddressObservation, of host: HostName) {
        let place = seen.address.map { "\(host) at \($0)" } ?? "\(host)"
        switch seen.observation {
        case .validated(let path):
            for certificate in IssuedCertificate.all(of: path) { self.add(certificate, of: "\(host)") }
        case .refused(_, let detail): self.complain("\(place): its chain does not validate: \(detail)")
        case .unreachable(let reason): self.complain("\(place): \(reason)")
        }
    }
}
