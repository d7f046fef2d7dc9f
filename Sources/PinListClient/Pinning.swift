// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import CertificateTransparency
public import Foundation
internal import PinFailureReports
internal import PinListMetadata

/// Pinning for one app: the shipped list, refreshed from a signed one, and the verdicts under it.
///
/// Creating one uses no network and starts no task: the embedded or the stored list is in force at once. The app runs
/// ``run()`` for as long as it lives; adapters call ``decision(for:host:connection:)`` at each handshake, from any
/// thread.
public actor Pinning {
    /// The configuration of the app.
    nonisolated let configuration: PinningConfiguration
    /// The base address of the list, without a slash at its end.
    nonisolated let address: String?
    nonisolated let hub: EventBroadcaster
    nonisolated let box: LockedPolicy
    nonisolated let mismatches = WorkSignal()
    /// Signals a refusal that an app or a page can repeat at will: of a host that no entry covers, or of no path. It holds up
    /// no refresh after a mismatch.
    nonisolated let denials = WorkSignal()
    nonisolated let inbox = ReportInbox()
    nonisolated let deliveries = WorkSignal()
    /// Signals that something stored could not be read.
    nonisolated let unread = WorkSignal()
    nonisolated let ledger = DecisionStatistics()
    /// The allowed paths by server, in all sessions.
    @_spi(Adapters) public nonisolated let allowedPaths = AllowedPaths()
    nonisolated let archive: ListArchive
    nonisolated let madeAt: Timestamp

    /// The trust state; `nil` for fixed rules that come with the app.
    var trust: TrustState?
    var installation: InstallationID?
    /// The log list in force for policies of Certificate Transparency.
    var logs: LogsInForce?
    /// The log list that the app ships.
    nonisolated let embeddedLogs: [UInt8]?
    /// The schedule of refreshes.
    @_spi(Simulation) public internal(set) var refreshSchedule = RefreshSchedule()
    var reports: ReportQueue
    /// The stored reports as this process knows them: what differs in the store is another process's.
    var storedReports: ReportQueue
    /// Whether the reports were stored at the last attempt.
    var areReportsStored = true
    /// The sleeps between two looks at the schedule, one for each call of ``run()``.
    var scheduleSleeps: [UUID: ScheduleSleep] = [:]
    /// The pause after a report that the list in force has expired.
    var stalePause: RefreshState.Pause?
    /// A timer that ends when the next report is due.
    var reportTimer: Task<Void, Never>?
    /// Whether reports are being sent.
    var isSending = false
    var storage: Storage { didSet { if self.isUnread { self.unread.send() } } }
    /// Whether a log list is there and could not be read.
    var areLogsUnread = false { didSet { if self.isUnread { self.unread.send() } } }
    /// Whether a trusted root or list could not be stored yet.
    var needsStoring = false
    /// Whether a stored root or list did not verify when it was read last.
    var isDamaged = false
    /// Whether the event that the version mark could not be stored was sent: it is sent once, until one is stored.
    let markFailure = FirstTime()
    /// Whether the list from outside was fetched by this process.
    var wasFetched = false
    var refreshInFlight: Task<Void, Never>?
    /// The tasks that wait for the refresh in flight.
    var refreshWaiters: [UUID: CheckedContinuation<RefreshOutcome, Never>] = [:]
    /// The kinds of the announced events about the list in force and its log list.
    private var announced: Set<PinningEvent.Kind> = []
    private var epoch: UInt64 = 0

    /// Whether the store can be used.
    enum Storage: Hashable, Sendable {
        /// The store can be used.
        case ready
        /// A file cannot be read now: nothing is written, and loading is tried again.
        case unreadable
        /// A newer version of this library keeps its state there: it is read, and not written.
        case newer

        /// The state by what was found in all files.
        init(after findings: [ListArchive.Finding]) {
            let isNewer = findings.contains { $0.kind == .stateNewer }
            self = findings.unreadable != nil ? .unreadable : isNewer ? .newer : .ready
        }
    }

    /// Puts the embedded list in force, or a newer one that is stored.
    ///
    /// - Parameters:
    ///   - root: The root that the app ships: the anchor of all trust. The list's name is taken from it.
    ///   - list: The list that the app ships.
    ///   - logs: The log list that the app ships, where its list names one: `tumbler-logs.json`.
    ///   - address: The base address of the list (`…/v1/lists/{name}`), `https`; `nil` for a list that is never
    ///     refreshed.
    ///   - state: The location of stored lists and roots.
    ///   - configuration: The settings of the app.
    /// - Throws: ``PinningSetupError`` for what is wrong in the build. Failures in the field are events.
    public init(
        root: EmbeddedFile, list: EmbeddedFile, logs: EmbeddedFile? = nil, refreshFrom address: URL?,
        state: StateLocation, configuration: PinningConfiguration
    ) throws(PinningSetupError) {
        let listBytes = try list.read("list", maximumBytes: configuration.limits.listBytes)
        let logBytes = try logs.map { logs throws(PinningSetupError) in try Self.read(logs) }
        try self.init(root, listBytes: listBytes, logs: logBytes, refreshFrom: address, state, configuration)
    }

    /// The log list that the app ships. One that cannot be read as such is a mistake in the build.
    private static func read(_ logs: EmbeddedFile) throws(PinningSetupError) -> [UInt8] {
        let bytes = try logs.read("log list", maximumBytes: LogList.maximumLength)
        do throws(LogListError) { _ = try LogList(bytes) } catch {
            throw PinningSetupError(.unverifiable, "the embedded log list cannot be read: \(error)")
        }
        return bytes
    }

    /// For tools that begin with a root alone: until a list was fetched, every host is refused.
    @_spi(Tools)
    public init(
        root: EmbeddedFile, logs: EmbeddedFile? = nil, refreshFrom address: URL?, state: StateLocation,
        configuration: PinningConfiguration
    ) throws(PinningSetupError) {
        let logBytes = try logs.map { logs throws(PinningSetupError) in try Self.read(logs) }
        try self.init(root, listBytes: nil, logs: logBytes, refreshFrom: address, state, configuration)
    }

    private init(
        _ root: EmbeddedFile, listBytes: [UInt8]?, logs: [UInt8]?, refreshFrom address: URL?, _ state: StateLocation,
        _ configuration: PinningConfiguration
    ) throws(PinningSetupError) {
        let rootBytes = try root.read("root", maximumBytes: configuration.limits.rootBytes)
        var trust: TrustState
        do {
            trust = try TrustState(
                bundledRoot: rootBytes, bundledList: listBytes, buildDate: configuration.buildDate,
                limits: configuration.limits)
        } catch {
            throw PinningSetupError(
                .unverifiable, "the embedded \(error.kind == .root ? "root" : "list") does not verify: \(error.detail)",
                refusal: error)
        }
        self.configuration = configuration
        self.hub = EventBroadcaster(logger: configuration.logger)
        self.address = try address.map { url throws(PinningSetupError) in try Self.base(url) }
        let name = trust.chain.newest.name
        self.archive = ListArchive(store: state.store(of: name), limits: configuration.limits)

        trust.mark = configuration.versionMark?.load(name: name)
        let now = configuration.clock.now
        self.madeAt = now
        var findings = self.archive.load(into: &trust)
        self.isDamaged = findings.isDamaged
        let state = self.archive.refreshState(&findings)
        findings += self.archive.missing(by: state, from: trust)
        self.reports = self.archive.reports(&findings)
        self.storedReports = self.reports
        self.areReportsStored = !findings.contains { $0.file == .reports }
        let storage = Storage(after: findings)
        let installation = self.archive.installation(
            &findings, isWritable: storage == .ready, randomness: configuration.randomness)
        self.trust = trust
        self.storage = storage
        self.refreshSchedule = RefreshSchedule(stored: state)
        self.installation = installation
        self.embeddedLogs = logs
        let found = self.archive.logs(for: trust, embedded: logs, before: nil)
        self.logs = found.inForce
        self.areLogsUnread = found.isUnreadable
        self.box = LockedPolicy(trust.policy(for: installation, epoch: 0, logs: found.inForce, configuration, at: now))
        for finding in findings { self.hub.send(PinningEvent(finding.kind, at: now, finding.detail)) }
        let events =
            trust.conditions(at: now) + found.findings.map { PinningEvent($0.kind, at: now, $0.detail) }
        for event in events { self.hub.send(event) }
        self.announced = Set(events.map(\.kind))
    }

    /// The name under which the state of rules without a list is stored.
    private static let nameWithoutList = "app"

    /// Puts fixed rules of the app in force, without a list: nothing is refreshed or signed.
    ///
    /// As with every static pinning, a key that changes before the app does locks people out. It is meant for an app
    /// that has pins already, as a first step to a signed list.
    ///
    /// - Parameters:
    ///   - policy: The rules. An entry that enforces needs a pin to let anything pass.
    ///   - state: The store for waiting reports; a folder keeps them over restarts.
    ///   - configuration: The settings of the app; nothing is fetched.
    public init(policy: PinningPolicy, state: StateLocation, configuration: PinningConfiguration) {
        self.configuration = configuration
        self.hub = EventBroadcaster(logger: configuration.logger)
        self.address = nil
        self.embeddedLogs = nil
        self.archive = ListArchive(store: state.store(of: Self.nameWithoutList), limits: configuration.limits)
        let now = configuration.clock.now
        self.madeAt = now
        var findings: [ListArchive.Finding] = []
        self.reports = self.archive.reports(&findings)
        self.storedReports = self.reports
        self.areReportsStored = findings.isEmpty
        self.storage = Storage(after: findings)
        self.trust = nil
        let policy = configuration.isObserving ? policy.reportingOnly : policy
        self.box = LockedPolicy(
            PolicyInForce(
                valid: policy, stale: policy, reportedList: nil, sampling: nil, epoch: 0,
                earliest: configuration.buildDate, expiresAt: nil, at: now))
        for finding in findings { self.hub.send(PinningEvent(finding.kind, at: now, finding.detail)) }
        let unusable = policy.entries.filter { !$0.reportTo.allSatisfy { ReportAddress.isAllowed($0) } }
        if let first = unusable.first {
            let detail =
                "an address for reports of \(first.domain) is not an https URL; no report is sent there: correct reportTo"
            self.hub.send(PinningEvent(.unusableAddress, at: now, detail))
        }
    }

    private static func base(_ url: URL) throws(PinningSetupError) -> String {
        var text = url.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        guard ReportAddress.isAllowed(text), !text.contains("?") else {
            throw PinningSetupError(
                .address, "lists are refreshed from an https URL without a query; \(url) is not one")
        }
        return text
    }

    // MARK: The rules in force

    /// The rules in force, for adapters; reading them does not wait.
    public nonisolated var policyInForce: PolicyInForce { self.box.value }

    /// The later rules as they come into force, for adapters that keep connections open and evaluate them again.
    public nonisolated func policyChanges() -> AsyncStream<PolicyInForce> { self.box.changes() }

    /// The events, beginning with 64 past ones: where there were more, the most frequent kind is the first to lose its
    /// oldest. Each observer has a stream of its own; a slow one loses its oldest events and delays no other.
    public nonisolated func events() -> AsyncStream<PinningEvent> { self.hub.events() }

    /// The list in force.
    var held: HeldList? { self.trust?.inForce?.held }

    /// Puts the trust state in force, and sends its events, each once.
    func publish(at now: Timestamp) {
        guard let trust = self.trust else { return }
        self.publish(self.archive.logs(for: trust, embedded: self.embeddedLogs, before: self.logs), at: now)
    }

    /// Puts the trust state in force, with the state of its log list.
    func publish(_ found: ListArchive.FoundLogs, at now: Timestamp) {
        guard let trust = self.trust else { return }
        let before = self.box.value
        self.epoch += 1
        self.logs = found.inForce
        self.areLogsUnread = found.isUnreadable
        self.box.value = trust.policy(
            for: self.installation, epoch: self.epoch, logs: self.logs, self.configuration, at: now)
        if before.listDigest != self.box.value.listDigest { self.announced = [] }
        // What the clock decided does not outlive the clock: the list will expire again, and is announced then.
        if !self.box.value.wasStale { self.announced.remove(.stale) }
        self.announce(trust.conditions(at: now))
        // A missing log list is fetched next; its event follows the fetch.
        if !found.isWanted { self.announce(found.findings, at: now) }
    }

    /// Sends the event about a log list, once for each list.
    func announce(_ findings: [ListArchive.Finding], at now: Timestamp) {
        self.announce(findings.map { PinningEvent($0.kind, at: now, $0.detail) })
    }

    private func announce(_ events: [PinningEvent]) {
        for event in events where self.announced.insert(event.kind).inserted { self.hub.send(event) }
    }
}

extension TrustState {
    /// The events about the list in force.
    func conditions(at clock: Timestamp) -> [PinningEvent] {
        guard let held = self.inForce?.held else { return [] }
        let list = held.list
        var events: [PinningEvent] = []
        if held.status == .superseded {
            events.append(
                PinningEvent(
                    .signerReplaced, at: clock,
                    "version \(list.version) is signed by keys of an earlier root than \(self.chain.newest.version)"))
        }
        if self.isStale(clock) {
            events.append(PinningEvent(.stale, at: clock, "version \(list.version) expired at \(list.expiresAt)"))
        }
        if self.hasConflictingLists {
            events.append(PinningEvent(.conflictingLists, at: clock, "there are two lists of version \(list.version)"))
        }
        if list.unusablePinCount > 0 {
            events.append(
                PinningEvent(.unusablePins, at: clock, "\(list.unusablePinCount) pins of version \(list.version)"))
        }
        if list.unknownTransparencyCount > 0 {
            events.append(
                PinningEvent(
                    .unknownTransparency, at: clock,
                    "\(list.unknownTransparencyCount) entries of version \(list.version) ask for what this version does not know"
                ))
        }
        return events
    }
}
