// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The world of a scenario at each moment: which list is the newest, what the server presents, and what a client that
/// holds some list decides on it. The library decides that, once for each list, chain and interval.
struct Timeline: Sendable {
    /// The verdict on a connection.
    enum Verdict: UInt8, Sendable {
        /// A pin matches, or nothing is expected.
        case accepted
        /// Allowed, and reported: what an installation out of the rollout, or the mode `report`, does.
        case reported
        /// Allowed because pinning is suspended.
        case suspended
        /// Refused.
        case refused
    }

    /// A list.
    struct List: Sendable {
        /// The time of publication, in seconds.
        let publishedAt: Int64
        /// The time at which it expires, in seconds.
        let expiresAt: Int64
        /// The percentage of the installations that enforce it.
        let percent: Int
    }

    /// The time on the clock of installations at the beginning: 2026-01-01T00:00:00Z. No result depends on it.
    static let beginning = Timestamp(secondsSince1970: 1_767_225_600)

    /// All lists, the shipped one first; each is one version newer than the one before.
    let lists: [List]
    /// The times at which intervals begin, in seconds, ascending from 0, and behind them the end of time. Within an
    /// interval no verdict changes.
    let boundaries: [Int64]
    /// The index of the chain that the server presents in each interval.
    let chains: [Int]
    /// The end of what is simulated, in seconds.
    let horizon: Int64
    /// The time that clients wait before they ask again, in seconds, within the limits of the library.
    let refreshInterval: Int64

    private let verdicts: [Verdict]
    private let outages: [Range<Int64>]
    private let cache: Int64

    /// Works through the events of a scenario.
    init(_ scenario: Scenario) throws(SimulationError) {
        let horizon = Int64(scenario.simulatedDays) * 86_400
        let events = scenario.events.enumerated().sorted {
            ($0.element.at.seconds, $0.offset) < ($1.element.at.seconds, $1.offset)
        }.map(\.element)
        var story = try Story(scenario, horizon: horizon)
        for event in events { try story.take(event) }
        var edges: Set<Int64> = [0]
        edges.formUnion(story.presented.map(\.from))
        edges.formUnion(story.pinLists.map { $0.expiresAt.secondsSince1970 - Self.beginning.secondsSince1970 })
        edges.formUnion(
            story.pinLists.flatMap(\.suspended).map {
                $0.until.secondsSince1970 - Self.beginning.secondsSince1970
            })
        let starts = edges.filter { (0..<horizon).contains($0) }.sorted()
        let chains = starts.map { start in story.presented.last { $0.from <= start }?.chain ?? 0 }
        var verdicts: [Verdict] = []
        for (list, percent) in zip(story.pinLists, story.percents) {
            for isInRollout in [false, true] {
                let enforces = percent >= 100 || isInRollout
                verdicts += try story.verdicts(of: list, enforcing: enforces, zip(starts, chains).map { ($0, $1) })
            }
        }
        self.lists = zip(story.pinLists, story.percents).map { list, percent in
            List(
                publishedAt: list.issuedAt.secondsSince1970 - Self.beginning.secondsSince1970,
                expiresAt: list.expiresAt.secondsSince1970 - Self.beginning.secondsSince1970, percent: percent)
        }
        self.boundaries = starts + [.max]
        self.chains = chains
        self.horizon = horizon
        self.refreshInterval = story.pinLists[0].refreshInterval
        self.verdicts = verdicts
        self.outages = scenario.outages.map { $0.from.seconds..<$0.from.seconds + $0.duration.seconds }
        self.cache = max(scenario.cache.seconds, 1)
    }

    /// The number of intervals.
    var intervalCount: Int { self.chains.count }

    /// The verdict on a connection.
    ///
    /// - Parameters:
    ///   - list: The index of the list that a client holds.
    ///   - place: The client's place in rollouts, 0 to 99.
    ///   - interval: The index of the interval.
    func verdict(of list: Int, place: Int, in interval: Int) -> Verdict {
        let isInRollout = place < self.lists[list].percent
        return self.verdicts[(list * 2 + (isInRollout ? 1 : 0)) * self.chains.count + interval]
    }

    /// The index of the list that a client is given at a moment.
    func list(servedAt moment: Int64) -> Int {
        let seen = moment - moment % self.cache
        var (low, high) = (0, self.lists.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.lists[middle].publishedAt <= seen { low = middle } else { high = middle }
        }
        return low
    }

    /// Whether the host of the lists does not answer.
    func isListHostDown(at moment: Int64) -> Bool {
        for outage in self.outages where outage.contains(moment) { return true }
        return false
    }
}

/// The lists and chains that the events of a scenario lead to, one after the other.
private struct Story {
    private static let host = "api.example.com"
    private static let name = "com.example.app"

    private let refreshAfter: Int64
    private let validFor: Int64
    private let whenStale: PinList.WhenStale
    private let domain: HostName
    private var keys: [String: Int] = [:]
    private var chains: [SimulatedKey] = []

    private(set) var pinLists: [PinList] = []
    private(set) var percents: [Int] = []
    /// The chains that are presented, and from when on.
    private(set) var presented: [(from: Int64, chain: Int)] = []

    private var entry: PinnedDomain
    private var denied: [DeniedKey] = []
    private var suspendedUntil: Int64 = 0
    private var percent = 100

    init(_ scenario: Scenario, horizon: Int64) throws(SimulationError) {
        guard let domain = try? HostName(Self.host) else { throw SimulationError(.scenario, "the host is invalid") }
        self.domain = domain
        self.refreshAfter = scenario.refreshAfter.seconds
        self.validFor = scenario.validFor?.seconds ?? horizon + 1
        self.whenStale = scenario.whenStale
        self.entry = PinnedDomain(domain, pins: [])
        let first = try self.chain(of: Scenario.firstKey)
        self.entry.pins = [KnownPin(self.chains[first].pin)]
        self.presented = [(0, first)]
        self.publish(at: 0)
    }

    /// The chain of a key, made when it is first named.
    private mutating func chain(of name: String) throws(SimulationError) -> Int {
        if let known = self.keys[name] { return known }
        guard self.chains.count < ScenarioLimits.keys else {
            throw SimulationError(.scenario, "there are over \(ScenarioLimits.keys) keys")
        }
        self.chains.append(try SimulatedKey(name, host: Self.host))
        self.keys[name] = self.chains.count - 1
        return self.chains.count - 1
    }

    mutating func take(_ event: Scenario.Event) throws(SimulationError) {
        switch event.change {
        case .publish(let pins, let denied, let mode):
            var known: [KnownPin] = []
            for name in pins { known.append(KnownPin(self.chains[try self.chain(of: name)].pin)) }
            var refused: [DeniedKey] = []
            for name in denied { refused.append(DeniedKey(self.chains[try self.chain(of: name)].pin)) }
            self.entry.pins = known
            self.entry.mode = mode
            self.denied = refused
        case .switchTo(let name):
            self.presented.append((event.at.seconds, try self.chain(of: name)))
            return
        case .suspend(let duration): self.suspendedUntil = event.at.seconds + duration.seconds
        case .rollout(let percent): self.percent = percent
        }
        self.publish(at: event.at.seconds)
    }

    private mutating func publish(at moment: Int64) {
        let suspension = Suspension(.entry(self.domain), until: Self.time(self.suspendedUntil), reason: "scenario")
        self.pinLists.append(
            PinList(
                name: Self.name, version: Int64(self.pinLists.count + 1), issuedAt: Self.time(moment),
                expiresAt: Self.time(moment + self.validFor), refreshAfter: self.refreshAfter,
                domains: [PinList.Domain(self.entry)], denied: self.denied,
                suspended: self.suspendedUntil > moment ? [suspension] : []))
        self.percents.append(self.percent)
    }

    /// The verdicts of the library under a list, for each interval.
    func verdicts(
        of list: PinList, enforcing: Bool, _ intervals: [(from: Int64, chain: Int)]
    ) throws(SimulationError) -> [Timeline.Verdict] {
        var list = list
        for index in list.domains.indices { list.domains[index].rollout = enforcing ? 100 : 0 }
        // Without an installation id, only what all installations enforce is enforced.
        guard let valid = try? list.policy(for: nil, isStale: false),
            let stale = try? list.policy(for: nil, isStale: true, whenStale: self.whenStale)
        else { throw SimulationError(.scenario, "the list \(list.version) is invalid") }
        return intervals.map { interval in
            let time = Self.time(interval.from)
            let policy = list.expiresAt <= time ? stale : valid
            let decision = policy.validate(self.chains[interval.chain].path, for: Self.host, at: time)
            if decision.verdict == .block { return .refused }
            switch decision.reason {
            case .suspended: return .suspended
            case .noMatchingPin: return .reported
            default: return .accepted
            }
        }
    }

    private static func time(_ moment: Int64) -> Timestamp {
        Timestamp(secondsSince1970: Timeline.beginning.secondsSince1970 + moment)
    }
}
