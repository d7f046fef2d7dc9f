// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListMetadata
import PinListRepository
import PinRotation

/// Every host of a list, asked from here.
struct ProbeCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Fetch the certificates of every host of a list, and evaluate them as pinned apps do.",
        discussion: """
            Each entry's own host is asked on port 443; --host names further ones, such as subdomains. The chain is \
            validated, then evaluated as an app that enforces it would: by the list, and by every list that installations \
            may still hold. A service that measured adoption says which these are; without one they are the lists of the \
            last propagation, from lists/ of the project. The output says which pin matches, how long each certificate \
            is valid, and whether the issuer has changed since the last probe.

            The revocation lists (CRLs) that the certificates name are fetched from public addresses, and with --crl \
            further ones. A served certificate that is revoked is reported.

            A rotation goes by what a probe saw when every host of it was asked: those below its entries that were \
            ever seen, too, with --host. A note says which were left out.

            --push sends the result to the service as well, for its dashboard: of hosts that are domains of the list, \
            because the service takes no others.

            Exit code 0: all is well; 1: users would be locked out, or a certificate ends within --within or is \
            revoked; 2: a host could not be asked, or a list of --crl not fetched, and nothing under 1 applies.
            """
    )

    @OptionGroup var target: ProbeTarget

    @Option(
        name: .customLong("host"), help: "A further host, such as one below an entry. May be given several times.",
        transform: Self.host)
    var hosts: [HostName] = []

    @Option(
        help: ArgumentHelp(
            "The anchors of what hosts serve; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    @Option(
        name: .customLong("crl"), parsing: .upToNextOption,
        help: ArgumentHelp("Further revocation lists, DER or PEM: files or addresses.", valueName: "file|url"),
        completion: .file())
    var lists: [String] = []

    @Option(help: ArgumentHelp("Warn this long before the end of a certificate.", valueName: "duration"))
    var within: String = "30d"

    @Option(
        help: ArgumentHelp(
            "The file in which results are kept for the next probe; in a project \(ProbeMemoryFile.defaultPath).",
            valueName: "file"), completion: .file())
    var previous: String?

    @Flag(help: "Send the result to the service.")
    var push = false

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        guard SourceDuration.seconds(of: self.within) != nil else {
            throw ValidationError("--within \(self.within): write \(SourceDuration.form)")
        }
    }

    func run() async throws {
        let time = self.time.time
        guard let notice = SourceDuration.seconds(of: self.within) else { return }
        // A missing part for sending is said before any host is asked.
        let client = self.push ? try self.service.requiredClient(self.target.project, scope: "publish") : nil
        let connections = self.service.connection.connections
        let list = try await self.target.load(by: connections)
        let held = try await self.target.heldLists(with: list, self.service, at: time)
        let rules = try CommandError.wrapping { () throws(RepositoryError) in
            try ProbeRules(list, at: time, notice: notice, held: held, logs: try self.target.logs(of: list))
        }
        if rules.isExpired { StandardError.warning("the list expired at \(list.expiresAt); clients still enforce it") }
        var observer = HostObserver(
            validator: PathValidator(
                roots: try connections.roots(self.roots), monotonicNanoseconds: monotonicNanoseconds),
            connections: connections, time: time)
        let hosts = rules.hosts(and: self.hosts)
        let observations = await WorkProgress.during("addresses asked") { progress in
            observer.progress = progress
            return await observer.observe(hosts)
        }

        let file = self.memoryFile
        var memory = file?.load() ?? ProbeMemory()
        var probed = zip(hosts, observations).map { rules.evaluate($0, $1, &memory) }
        let troubles = try await ProbedRevocations.add(
            to: &probed, observations, given: self.lists, at: time, by: connections)
        for trouble in troubles { StandardError.warning(trouble) }
        let report = ProbeReport(list, held: held, at: time, probed)
        self.keepRotations(list, Array(zip(hosts, observations)), by: observer, &memory, at: time)
        file?.save(memory)
        if self.json {
            try JSONOutput.write(report)
        } else {
            try StandardOutput.write(lines: ProbeLines(report: report, notice: notice).lines)
        }
        try await self.send(
            report.only(Set(list.domains.map(\.entry.domain))), client, needsAction: report.needsAction)
        if report.needsAction { throw ExitCode(CommandExit.doesNotHold.rawValue) }
        if report.isIncomplete || !troubles.isEmpty { throw ExitCode(CommandExit.undecided.rawValue) }
    }

    /// Keeps what was seen of the keys of rotations, which their gates ask for.
    private func keepRotations(
        _ list: PinList, _ seen: [(HostName, [AddressObservation])], by observer: HostObserver,
        _ memory: inout ProbeMemory, at time: Timestamp
    ) {
        guard self.target.list == nil, let project = try? self.target.project.find() else { return }
        let observations = Dictionary(seen) { first, _ in first }
        do throws(RepositoryError) {
            let entries = try RotationFolder(of: project).plans().filter { !$0.plan.state.isFinal }
            guard !entries.isEmpty else { return }
            let concerned = RotationHosts(
                published: list, source: (try? SourceInput(nil, self.target.project))?.source)
            for plan in entries.map(\.plan) {
                // A pin set is of several hosts, and so is an entry with its subdomains: each of them has to be seen.
                let hosts = concerned.known(of: plan, in: memory, and: seen.map { $0.0 })
                let unasked = hosts.filter { observations[$0] == nil }
                guard unasked.count < hosts.count else { continue }
                if !unasked.isEmpty { StandardError.note(Self.incomplete(plan, unasked)) }
                let look = RotationLook(
                    hosts: hosts.map { host in
                        RotationLook.Host(
                            host: host, observations: observations[host], narrowing: observer.narrowing(of: host))
                    })
                let joined = KeySightings.joining(
                    look.addresses, at: time, new: plan.new, old: plan.old, to: memory.sightings(of: plan, at: time))
                if let joined { memory.keep(joined, of: plan) }
            }
        } catch {
            StandardError.warning("\(error.reason); the observation is not kept for rotations")
        }
    }

    /// The note that a probe is no look at every host of a rotation.
    private static func incomplete(_ plan: RotationPlan, _ unasked: [HostName]) -> String {
        let names = unasked.prefix(3).map(\.description).joined(separator: ", ")
        let more = unasked.count > 3 ? " and \(unasked.count - 3) more" : ""
        return "this is no look at every host of the rotation of \(plan.host): \(names)\(more) not asked; "
            + "--host names each"
    }

    /// Sends the report. What was found counts for more than that it could not be sent.
    private func send(_ report: ProbeReport, _ client: ServiceClient?, needsAction: Bool) async throws {
        guard let client else { return }
        let body = Array(try JSONOutput.line(report))
        do throws(CommandError) { try await client.push(body, of: report.name) } catch {
            throw CommandError(needsAction ? .doesNotHold : .undecided, error.message, hint: error.hint)
        }
    }

    private var memoryFile: ProbeMemoryFile? {
        if let previous {
            return ProbeMemoryFile(
                URL(fileURLWithPath: previous, relativeTo: ProjectOption.working), isOurs: false)
        }
        return self.target.memory.map { ProbeMemoryFile($0, isOurs: true) }
    }

    private static func host(_ text: String) throws -> HostName {
        try HostArgument.host(text)
    }
}
