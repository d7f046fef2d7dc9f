// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinFailureReports
@_spi(Simulation) internal import PinListClient

/// One installation from the beginning of a scenario to its end, and then the next: nothing of it is kept but counts.
///
/// Each opening is a start of the app: a connection under the list that is held, and a refresh if one is due. A connection
/// that is refused joins that refresh, or asks for one, as in the client library. A list that comes into force, a server
/// that changes and a suspension that ends let the app connect again; what is refused is tried again every five minutes
/// while the app is open.
struct ClientRun {
    /// The time that an app waits before it repeats a refused connection, in seconds.
    static let retrySeconds: Int64 = 300
    /// The requests of a refresh: the next root, and the list.
    private static let requestsOfRefresh = 2

    private let timeline: Timeline
    private let seed: UInt64
    private let session: Int64
    private let offlineShare: Double
    private let offlineSeconds: Int64
    private let sharesFate: Bool

    // One installation.
    private let maximumSteps: Int
    private var openings: Openings
    private var fractions = ClientRandomness(seed: 0, client: 0, .fractions)
    private var place = 0
    private var list = 0
    private var interval = 0
    private var schedule = RefreshSchedule()
    private var newest = Timeline.Verdict.accepted
    private var lastReport: (of: Int, at: Int64)?
    /// The first step that is not counted yet, for each thing that is counted once a step.
    private var uncounted = (opened: 0, refused: 0, suspended: 0)

    // One session.
    private var wakeAt: Int64 = 0
    private var mismatchAt = Int64.max
    private var hasAnotherMismatch = false
    private var connectAt: Int64 = 0
    private var since: Int64 = 0

    init(_ timeline: Timeline, _ scenario: Scenario, seed: UInt64, maximumSteps: Int) {
        self.timeline = timeline
        self.maximumSteps = maximumSteps
        self.seed = seed
        self.session = scenario.session.seconds
        self.offlineShare = scenario.offline?.share ?? 0
        self.offlineSeconds = scenario.offline?.duration.seconds ?? 0
        self.sharesFate = scenario.sharesFateWith != nil
        self.openings = Openings(scenario.opened, horizon: timeline.horizon)
    }

    /// An installation's place in rollouts, 0 to 99; the first number that is drawn of its traits.
    static func place(_ traits: inout ClientRandomness) -> Int {
        Int(exactly: (traits.fraction() * 100).rounded(.down)) ?? 0
    }

    /// Runs an installation to the end.
    ///
    /// - Throws: ``SimulationError`` when the installations of the tally did too much.
    mutating func run(_ client: Int, into tally: inout SimulationTally) throws(SimulationError) {
        let offline = self.begin(client)
        var opening = self.openings.next(from: 0)
        while opening < self.timeline.horizon {
            if offline.contains(opening) {
                opening = self.openings.next(from: offline.upperBound)
                continue
            }
            let end = min(opening + self.session, self.timeline.horizon)
            self.open(from: opening, until: end, into: &tally)
            guard tally.steps <= self.maximumSteps else {
                throw SimulationError(
                    .tooMuchWork, "the installations would do over \(ScenarioLimits.steps) things")
            }
            opening = self.openings.next(from: end)
        }
        tally.clients += 1
        tally.finally[self.list] += 1
        let last = self.timeline.intervalCount - 1
        if self.newest == .refused, self.timeline.verdict(of: self.list, place: self.place, in: last) == .refused {
            tally.neverRecovered += 1
        }
    }

    /// Begins with another installation.
    ///
    /// - Returns: The time for which it is offline.
    private mutating func begin(_ client: Int) -> Range<Int64> {
        var traits = ClientRandomness(seed: self.seed, client: client, .traits)
        self.place = Self.place(&traits)
        self.openings.begin(seed: self.seed, client: client, &traits)
        self.fractions = ClientRandomness(seed: self.seed, client: client, .fractions)
        self.list = 0
        self.interval = 0
        self.schedule = RefreshSchedule()
        self.newest = .accepted
        self.lastReport = nil
        self.uncounted = (0, 0, 0)
        guard self.offlineShare > 0, traits.fraction() < self.offlineShare else { return 0..<0 }
        let begin = Int64(exactly: (traits.fraction() * Double(self.timeline.horizon)).rounded(.down)) ?? 0
        return begin..<begin + self.offlineSeconds
    }

    // MARK: One session

    private mutating func open(from start: Int64, until end: Int64, into tally: inout SimulationTally) {
        self.schedule = self.schedule.restarted
        self.wakeAt = start
        self.mismatchAt = .max
        self.hasAnotherMismatch = false
        self.connectAt = start
        self.newest = .accepted
        self.since = start
        var now = start
        while now < end {
            tally.steps &+= 1
            self.advance(to: now)
            if self.connectAt <= now { self.connect(at: now, into: &tally) }
            if self.wakeAt <= now { self.refreshBySchedule(at: now, into: &tally) }
            if self.mismatchAt <= now { self.refreshAfterMismatch(at: now, into: &tally) }
            now = min(self.wakeAt, self.mismatchAt, self.connectAt)
        }
        Self.count(start, end, &self.uncounted.opened, &tally.opened)
        self.settle(at: end, into: &tally)
    }

    private mutating func advance(to now: Int64) {
        while self.timeline.boundaries[self.interval + 1] <= now { self.interval += 1 }
    }

    private func clock(_ now: Int64) -> Timestamp {
        Timestamp(secondsSince1970: Timeline.beginning.secondsSince1970 + now)
    }

    /// Whether the schedule begins a refresh at this moment, which a mismatch joins.
    private func isRefreshDue(at now: Int64) -> Bool { self.wakeAt <= now && self.wait(at: now) == 0 }

    /// The time until the next refresh by the schedule. The client library looks at the schedule each minute meanwhile, for
    /// devices that sleep and clocks that are set; here neither happens.
    private func wait(at now: Int64) -> Int64 {
        self.schedule.wait(refreshInterval: self.timeline.refreshInterval, at: self.clock(now))
    }

    private mutating func refreshBySchedule(at now: Int64, into tally: inout SimulationTally) {
        var wait = self.wait(at: now)
        if wait == 0 {
            self.refresh(at: now, into: &tally)
            // After a refresh none is due at the same moment: an interval and a backoff are a second long at least.
            wait = max(self.wait(at: now), 1)
        }
        self.wakeAt = now + wait
    }

    private mutating func refreshAfterMismatch(at now: Int64, into tally: inout SimulationTally) {
        self.mismatchAt = .max
        self.refresh(at: now, into: &tally)
        // One that failed is tried again by the backoff, sooner than the schedule was going to look.
        self.wakeAt = min(self.wakeAt, now + max(self.wait(at: now), 1))
        guard self.hasAnotherMismatch else { return }
        self.hasAnotherMismatch = false
        self.askForRefresh(at: now)
    }

    /// One refresh, which takes no time.
    private mutating func refresh(at now: Int64, into tally: inout SimulationTally) {
        let fraction = self.fractions.fraction()
        let minute = Int(truncatingIfNeeded: now / SimulationTally.requestSeconds)
        let isUnreachable =
            self.timeline.isListHostDown(at: now)
            || self.sharesFate
                && self.timeline.verdict(of: self.list, place: self.place, in: self.interval) == .refused
        if isUnreachable {
            tally.requests[minute] += 1
            return self.schedule.noteFailure(fraction: fraction, at: self.clock(now))
        }
        tally.requests[minute] += Self.requestsOfRefresh
        let served = self.timeline.list(servedAt: now)
        if served > self.list {
            // A list that has expired is refused: an attacker may be withholding the next one.
            guard self.timeline.lists[served].expiresAt > now else {
                return self.schedule.noteFailure(fraction: fraction, at: self.clock(now))
            }
            let next = Int(truncatingIfNeeded: now / SimulationTally.stepSeconds) + 1
            tally.holding[self.list].add(-1, from: next)
            tally.holding[served].add(1, from: next)
            self.list = served
            self.schedule.noteNewerList()
            // Open connections are evaluated again, and what was refused is tried again.
            self.connectAt = now
        }
        self.schedule.noteSuccess(
            refreshInterval: self.timeline.refreshInterval, fraction: fraction, at: self.clock(now))
    }

    private mutating func connect(at now: Int64, into tally: inout SimulationTally) {
        let verdict = self.timeline.verdict(of: self.list, place: self.place, in: self.interval)
        self.connectAt = self.timeline.boundaries[self.interval + 1]
        if verdict != self.newest {
            self.settle(at: now, into: &tally)
            self.newest = verdict
            self.since = now
        }
        guard verdict == .refused || verdict == .reported else { return }
        self.report(at: now, into: &tally)
        guard verdict == .refused else { return }
        self.connectAt = min(self.connectAt, now + Self.retrySeconds)
        if self.mismatchAt != .max {
            self.hasAnotherMismatch = true
        } else if !self.isRefreshDue(at: now) {
            self.askForRefresh(at: now)
        }
    }

    private mutating func askForRefresh(at now: Int64) {
        let fraction = self.fractions.fraction()
        guard let wait = self.schedule.waitAfterMismatch(at: self.clock(now), fraction: fraction) else { return }
        self.mismatchAt = now + (Int64(exactly: wait.rounded(.up)) ?? 0)
    }

    /// Counts a report, where none of the same chain went out within a day.
    private mutating func report(at now: Int64, into tally: inout SimulationTally) {
        let identity = self.timeline.chains[self.interval]
        if let lastReport, lastReport.of == identity, now - lastReport.at < ReportLimits.silence { return }
        self.lastReport = (identity, now)
        tally.reports += 1
    }

    // MARK: Counting

    /// Counts what the newest verdict meant until now.
    private mutating func settle(at now: Int64, into tally: inout SimulationTally) {
        switch self.newest {
        case .refused: Self.count(self.since, now, &self.uncounted.refused, &tally.refused)
        case .suspended: Self.count(self.since, now, &self.uncounted.suspended, &tally.suspended)
        case .accepted, .reported: break
        }
    }

    /// Counts the steps that a time touches, less those that are counted already.
    private static func count(
        _ from: Int64, _ until: Int64, _ uncounted: inout Int, _ changes: inout SimulationTally.Changes
    ) {
        let first = max(Int(truncatingIfNeeded: from / SimulationTally.stepSeconds), uncounted)
        let last = Int(truncatingIfNeeded: max(from, until - 1) / SimulationTally.stepSeconds)
        guard first <= last else { return }
        changes.add(from: first, through: last)
        uncounted = last + 1
    }
}
