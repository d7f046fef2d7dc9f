// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// One rotation, and all that is known of it now.
struct RotationSituation {
    /// The plan as it was read.
    let entry: RotationFolder.Entry

    /// The plan, with what was seen since.
    let plan: RotationPlan

    /// The facts beside the plan.
    let facts: RotationFacts

    /// The outlook: the next step.
    let outlook: RotationOutlook

    /// The forecast of when the gate opens.
    let forecast: RotationForecast

    /// Notes for people beside that, each one line.
    let notes: [String]

    /// The notes on entries below which no host is known. ``notes`` has them as well.
    let hostNotes: [String]

    /// The alarm that the gate is no longer safe, or that it was not and the plan went back; `nil` where neither is so.
    /// The service has an alarm for a plan that went back and was pushed; a project without one has this line.
    var alarm: String? {
        if self.outlook.isBack { return self.outlook.missing.first }
        guard self.plan.state == .announced, self.plan.steps.contains(where: { $0.state == .ready }) else { return nil }
        return "it was ready, and went back at \(self.plan.since): "
            + (self.plan.lastStep.reason ?? "the gate is no longer safe")
    }
}

/// The knowledge about a project, for the rotations in it.
struct RotationKnowledge {
    /// The project and its source.
    let input: SourceInput

    /// The plans.
    let folder: RotationFolder

    /// The lists that the gate evaluates by; `nil` where there are none.
    let lists: GateLists?

    /// All plans; or why one cannot be read.
    private let plans: Result<[RotationPlan], RepositoryError>

    /// Without a service: the newest list that the project wrote down as having gone out.
    private let recorded: PinList?

    private let whyNoLists: String
    private let concerned: RotationHosts
    private let status: Result<ServiceStatus, CommandError>?
    private let look: RotationLookOptions
    private let connections: Connections
    private let memory: ProbeMemoryFile
    private let time: Timestamp

    /// Reads the project, and asks the service where there is one.
    ///
    /// - Throws: ``CommandError`` for a project that cannot be read.
    init(
        _ project: ProjectOption, _ service: ServiceOptions, _ look: RotationLookOptions, at time: Timestamp
    ) async throws(CommandError) {
        self.input = try SourceInput(nil, project)
        self.folder = RotationFolder(of: self.input.project)
        do throws(RepositoryError) { self.plans = .success(try self.folder.plans().map(\.plan)) } catch {
            self.plans = .failure(error)
        }
        self.look = look
        self.connections = service.connection.connections
        self.time = time
        self.memory = ProbeMemoryFile(
            self.input.project.folder.appendingPathComponent(ProbeMemoryFile.defaultPath), isOurs: true)
        do throws(CommandError) {
            self.lists = try await GateLists.load(project, name: nil, service, at: time)
            self.whyNoLists = ""
        } catch {
            (self.lists, self.whyNoLists) = (nil, error.message)
        }
        // A history that cannot be read is why there are no lists.
        self.recorded = try? ListHistory(of: self.input.project).newestPublishedList()
        self.concerned = RotationHosts(published: self.lists?.newest.last, source: self.input.source)
        self.status = try await Self.status(self.input.source, service)
    }

    /// The status of the service; `nil` when there is none.
    private static func status(
        _ source: ListSource, _ options: ServiceOptions
    ) async throws(CommandError) -> Result<ServiceStatus, CommandError>? {
        guard let address = try options.address(or: source) else { return nil }
        let token = try options.token(for: address)
        guard token != nil || address.isLoopback else {
            return .failure(CommandError(.undecided, "there is no token for \(address)"))
        }
        do throws(CommandError) {
            return .success(try await options.client(address, token).status().status)
        } catch { return .failure(error) }
    }

    /// Finds out how a rotation stands. What is seen is kept for the next time.
    ///
    /// - Parameters:
    ///   - entry: The plan.
    ///   - certificate: The chain that is to be deployed, where there is one.
    /// - Throws: ``CommandError``.
    func situation(
        of entry: RotationFolder.Entry, certificate: String? = nil
    ) async throws(CommandError) -> RotationSituation {
        var plan = entry.plan
        var facts = RotationFacts()
        var notes: [String] = []
        var (hosts, hostNotes): ([HostName], [String]) = ([], [])
        if !plan.state.isFinal {
            hosts = try self.hosts(of: plan)
            hostNotes = self.concerned.entriesWithUnknownHosts(of: plan, known: hosts).map { domain in
                "\(domain) includes subdomains, and no host below it was ever asked: name those that serve with --host"
            }
            notes += hostNotes
            facts.objections = self.input.source.objections(to: plan) + self.collisions(of: plan)
            // The gates of the other states do not depend on them, and people should know.
            if plan.state == .announced || plan.state == .ready { notes += facts.objections }
        }
        facts.isNewPublished = self.isPublished(plan.new.pin, by: plan)
        facts.isOldPublished = self.mayBePublished(plan.old.map(\.pin), by: plan)
        if plan.state == .announced || plan.state == .ready {
            facts.gate = try await self.gate(plan, certificate, &notes)
        }
        let look = try await hosts.isEmpty ? nil : self.look.look(at: hosts, by: self.connections, self.time)
        facts.addresses = look?.addresses
        plan.sightings = self.joined(plan, look)
        facts.failureAlarm = self.failureAlarm(of: plan.entries)
        let forecast = self.forecast(plan, facts.gate)
        facts.expectedOpening = forecast.opening
        return RotationSituation(
            entry: entry, plan: plan, facts: facts, outlook: plan.outlook(facts, at: self.time), forecast: forecast,
            notes: notes, hostNotes: hostNotes)
    }

    /// The hosts of a plan that a look asks: those of its entries, those below them that were ever seen, and those that
    /// are named.
    ///
    /// - Throws: ``CommandError`` for a named host to which no entry of the plan applies.
    func hosts(of plan: RotationPlan) throws(CommandError) -> [HostName] {
        if let stranger = self.look.hosts.first(where: { !self.concerned.belongs($0, to: plan) }) {
            let applying = self.concerned.entry(for: stranger).map { "the entry of \($0.domain) applies to it" }
            throw CommandError(
                .usage, "--host \(stranger): no entry of the rotation of \(plan.host) applies to it",
                hint: applying ?? "name a host below an entry that includes its subdomains")
        }
        return self.concerned.known(of: plan, in: self.memory.load(), and: self.look.hosts)
    }

    /// The further hosts that the command line names.
    var named: [HostName] { self.look.hosts }

    /// The other plans that concern an entry of a plan, each one line; or that one of them cannot be read, and may.
    func collisions(of plan: RotationPlan) -> [String] {
        let plans: [RotationPlan]
        switch self.plans {
        case .success(let read): plans = read
        case .failure(let error): return ["a plan that cannot be read may concern the same entries: \(error.reason)"]
        }
        return plans.filter(plan.collides).map { other in
            "\(RotationFolder.path(of: other.host)) concerns the same entries, and is \(other.state.rawValue): "
                + "one rotation at a time"
        }
    }

    /// Whether the list that clients get has a pin in each entry of a plan: that of the service; without one the newest that the
    /// project wrote down as having gone out. `pins.json` alone is no list that anybody got. While the service cannot be asked, a plan
    /// that was announced goes by the project's own list, and nothing is announced.
    private func isPublished(_ pin: Pin, by plan: RotationPlan) -> Bool {
        var list = self.lists?.service == nil ? self.recorded : self.lists?.served
        if self.lists?.isServedUnknown ?? false, plan.state != .planned { list = self.lists?.own }
        return !plan.entries.isEmpty && Self.entries(of: list, with: [pin], by: plan) == plan.entries.count
    }

    /// Whether a list that clients may get has one of some pins in an entry of a plan; also where that is not known, once the plan
    /// was announced.
    func mayBePublished(_ pins: [Pin], by plan: RotationPlan) -> Bool {
        guard let lists, !lists.isServedUnknown || plan.state == .planned else { return plan.state != .planned }
        // Without a service the project's own list may be exported at any time.
        let possible = lists.service == nil ? [self.recorded, lists.own] : [lists.served ?? lists.own]
        return possible.contains { Self.entries(of: $0, with: pins, by: plan) > 0 }
    }

    /// The number of a plan's entries in which a list has one of some pins.
    private static func entries(of list: PinList?, with pins: [Pin], by plan: RotationPlan) -> Int {
        (list?.domains ?? []).count { domain in
            plan.entries.contains(domain.entry.domain) && domain.entry.pins.contains { pins.contains($0.pin) }
        }
    }

    /// The gate's answer on the new key at each entry; the worst of them.
    private func gate(
        _ plan: RotationPlan, _ certificate: String?, _ notes: inout [String]
    ) async throws(CommandError) -> GateAnswer? {
        guard let lists else {
            notes.append("the gate cannot be asked: \(self.whyNoLists)")
            return nil
        }
        let rules: GateRules
        do throws(InputError) {
            rules = try lists.rules(maxRefusing: plan.maxRefusing.percent, at: self.time)
        } catch {
            notes.append("the gate cannot be asked: no rules can be made of a list: \(error)")
            return nil
        }
        let file = try certificate.map { path throws(CommandError) in try GateFile(path) } ?? .key(plan.new.pin)
        let isKeyEnough =
            plan.new.position != .issuer && plan.new.pin.kind == .publicKey
            && !plan.entries.contains { rules.needsChain(of: plan.new.pin, for: $0) }
        guard certificate != nil || isKeyEnough else {
            notes.append("the gate needs the chain that is to be deployed: --certificate FILE")
            return nil
        }
        let (connections, roots) = (self.connections, self.look.roots)
        var worst: GateAnswer?
        for host in plan.entries {
            let (material, lifetimes) = try await file.material(
                for: host, roots: { () throws(CommandError) in try connections.roots(roots) }, at: self.time)
            if case .path(let path) = material, !plan.new.isIn(path.publicKeyPins) {
                throw CommandError(
                    .doesNotHold, "\(certificate ?? ""): the chain does not have the new key, \(plan.new.pin)",
                    hint: "name the chain that is to be deployed")
            }
            let answer = rules.answer(for: host, material, lifetimes: lifetimes)
            if worst.map({ Self.severity(answer.verdict) > Self.severity($0.verdict) }) ?? true { worst = answer }
        }
        // A service that does not answer changes nothing at the installations: the rotation stays where it is.
        if lists.isServedUnknown, let worst, worst.verdict == .unknown {
            notes.append("the gate cannot be asked: \(worst.reason)")
            return nil
        }
        return worst
    }

    private static func severity(_ verdict: GateVerdict) -> Int {
        switch verdict {
        case .safe: 0
        case .unknown: 1
        case .unsafe: 2
        }
    }

    /// The observations of before and now, kept for the next time.
    private func joined(_ plan: RotationPlan, _ look: RotationLook?) -> KeySightings? {
        // Another command may have written it during the look.
        var memory = self.memory.load(isTelling: false)
        let before = memory.sightings(of: plan, at: self.time)
        guard let look else { return before }
        let known = memory
        let joined = KeySightings.joining(look.addresses, at: self.time, new: plan.new, old: plan.old, to: before)
        if let joined, joined != before { memory.keep(joined, of: plan) }
        // A host that is named once is asked by every later look.
        for host in look.existing where self.named.contains(host) { memory.keep(looked: host) }
        if memory != known { self.memory.save(memory) }
        return joined
    }

    private func failureAlarm(of entries: [HostName]) -> RotationFacts.FailureAlarm {
        switch self.status {
        case nil: return .none
        case .failure(let failure): return .unknown(PrintableText.line(failure.message, maximumLength: 240))
        case .success(let status):
            let kind = "failure-rate"
            let open = status.alarms.first { alarm in
                guard alarm.kind == nil || alarm.kind == kind else { return false }
                // An alarm that does not say what it is about may be about this.
                guard let key = alarm.key else { return true }
                return entries.contains { key == "\(kind):\($0)" || key.hasPrefix("\(kind):\($0):") }
            }
            return open.map { .open(PrintableText.line($0.detail ?? kind, maximumLength: 240)) } ?? .none
        }
    }

    private func forecast(_ plan: RotationPlan, _ gate: GateAnswer?) -> RotationForecast {
        let beginning = plan.entered(.announced) ?? max(plan.announceAt, self.time)
        var refusing = RotationForecast.spread(of: self.lists, at: self.time)
        if let announced = plan.entered(.announced) {
            refusing = gate?.refusing.share.map { share in
                (share, self.time.secondsSince1970 - announced.secondsSince1970)
            }
        }
        return RotationForecast(
            from: beginning, refusing: refusing, limit: plan.maxRefusing, self.input.source, at: self.time)
    }

    /// The forecast for a switch that comes later than usual, before there is a plan.
    func forecast(limit: RefusingLimit) -> RotationForecast {
        RotationForecast(
            from: self.time, refusing: RotationForecast.spread(of: self.lists, at: self.time), limit: limit,
            self.input.source, at: self.time)
    }

    /// The keys that each address of some hosts serves now, as far as that is known; `nil` when they are not probed.
    func addresses(of hosts: [HostName]) async throws(CommandError) -> [KeySightings.Address]? {
        try await self.look.look(at: hosts, by: self.connections, self.time)?.addresses
    }

    /// The pins that probes ever saw at a host.
    func pinsSeen(at host: HostName) -> Set<String> { self.memory.load().pins(of: host) }
}
