// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinListStore

/// The parts of one instance of the service.
struct ServiceParts: Sendable {
    let configuration: ServiceConfiguration
    let store: any ServiceStore
    /// A name that no other instance on the same store has.
    let instance: String
    let clock: any ServiceClock
    let lists: ServedLists
    let listRequests: ListRequestCounter
    let publisher: Publisher
    /// The number of entries of the audit log that this instance did not write.
    let unwritten = UnwrittenEntries()
    let reports: ReportRoute
    let attestation: AttestationRoute
    let reportCounters: ReportCounters
    let intake: ReportIntake
    /// The failures of the store, which are told without it.
    let storeFailures = StoreFailures()
    /// The use of the database's room, when this instance looked last.
    let room = NIOLockedValueBox<StoreRoom?>(nil)
    let source: RequestSource
    let plans: RotationPlans
    let keyCounts = AttestedKeyCounts()
    let logger: Logger

    /// Puts an instance together.
    ///
    /// - Parameter instance: A name that no other instance on the same store has.
    init(
        _ configuration: ServiceConfiguration, store: any ServiceStore, clock: any ServiceClock, instance: String,
        logger: Logger
    ) {
        let store = StoreOutage(of: store, logger: logger)
        self.configuration = configuration
        self.store = store
        self.instance = instance
        self.clock = clock
        self.lists = ServedLists(anchors: configuration.roots)
        var random = SystemRandomNumberGenerator()
        self.listRequests = ListRequestCounter(seed: random.next())
        self.publisher = Publisher(store: store, anchors: configuration.roots, unwritten: self.unwritten)
        self.source = RequestSource(trustedProxies: configuration.trustedProxies, edges: configuration.edges)
        self.plans = RotationPlans()
        self.reportCounters = ReportCounters()
        self.intake = ReportIntake(
            store: store, instance: instance, clock: clock, failures: self.storeFailures)
        let evaluate = AssertionEvaluator(
            names: configuration.attestation, store: store, challenges: AttestationChallenges(store: store))
        self.reports = ReportRoute(
            intake: self.intake, counters: self.reportCounters, source: self.source, clock: clock,
            lists: self.lists,
            equivocation: EquivocationWatch(store: store, lists: self.lists, logger: logger),
            attestation: evaluate, limiter: configuration.reportLimits, random: SystemRandomNumberGenerator())
        self.attestation = AttestationRoute(
            names: evaluate.names, store: store, challenges: evaluate.challenges, keyCounts: self.keyCounts,
            reports: self.reports, clock: clock)
        self.logger = logger
    }

    /// Takes an overview of the service.
    func overview() async throws -> Overview {
        let (names, plans, now) = (self.lists.names, self.plans, self.clock.now)
        let broken = self.lists.refusals.mapValues(\.description)
        let asking = Set(self.configuration.attestation.keys)
        let keys = await self.keyCounts.counts(
            of: asking, in: self.store, uptime: self.clock.uptime, self.logger)
        return try await self.store.read {
            try Overview($0, names, plans, asking: asking, keys: keys, broken: broken, at: now)
        }
    }
}
