// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis
internal import ServiceLifecycle

/// Evaluates the alarm rules several times a minute, and sends notifications. Of several instances one looks: what
/// another saw a moment before it would otherwise come and go again.
struct AlarmWatch: Service {
    /// The interval of evaluations.
    static let interval: Duration = .seconds(15)
    /// The time for which an instance that looked keeps the others from it, in seconds: when it is gone, another
    /// begins.
    static let evaluationLease: Int64 = 60
    /// The time for which an instance keeps others from a notification that it is sending, in seconds.
    static let lease: Int64 = 60
    /// The time that a notification waits for one that comes before it, in seconds.
    static let pause: Int64 = 15
    /// The time after which a notification that its target does not take is given up, in seconds: a day.
    static let maximumDeliverySeconds: Int64 = 86_400
    /// The minimum number of attempts before that: over six hours of them, whatever clocks say.
    static let minimumAttempts: Int64 = 20
    /// The number of notifications that are sent at a time.
    static let maximum = 20
    /// The time after which no further one is begun, in seconds, so that all are done before ``lease`` is over.
    static let maximumRound = 30.0

    let parts: ServiceParts
    let sender: any WebhookSender
    /// The interval of evaluations. Tests wait less long.
    var interval = Self.interval
    /// The targets of which the log says that notifications wait and no instance knows them.
    private let stranded = NIOLockedValueBox<Set<String>>([])
    /// The time at which this instance began to look.
    private let begunAt: Timestamp

    init(parts: ServiceParts, sender: any WebhookSender) {
        (self.parts, self.sender, self.begunAt) = (parts, sender, parts.clock.now)
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Interval.each(self.interval) { await self.round() } }
            // Beside the rounds: a call of the store may never return, and then a round never ends. Cancelling it ends none.
            group.addTask { await Interval.each(self.interval) { await self.tellOfStore() } }
        }
    }

    /// Evaluates the alarm rules once, and sends what is due.
    func round() async {
        await self.look()
        await self.tellThatStoreWorks()
        await self.send()
    }

    /// The wait of a notification that its target did not take, in seconds.
    static func wait(after attempts: Int64) -> Int64 {
        min(Int64(15) << min(attempts, 7), StoreTransaction.maximumWait)
    }

    /// Evaluates the alarm rules once.
    func look() async {
        self.begin()
        do {
            try await self.evaluate()
            self.parts.storeFailures.note(.evaluating, .success(()), by: self.parts.clock)
        } catch {
            self.parts.storeFailures.note(.evaluating, .failure(error), by: self.parts.clock)
            self.parts.logger.storeFailed("alarms cannot be looked at", error)
        }
    }

    /// Notes that a call of an evaluation begins: what is slow, but answers, has not failed.
    private func begin() { self.parts.storeFailures.begin(.evaluating, by: self.parts.clock) }

    private func evaluate() async throws {
        let now = self.parts.clock.now
        let instance = self.parts.instance
        let ours = self.parts.configuration.alerts.map(\.name)
        // Each instance counts for itself, also while another one looks.
        try await self.parts.lists.reloadSightedKeys(from: self.parts.store, at: now)
        self.begin()
        let isOurs = try await self.parts.store.write(as: .leases) { store in
            // The instance that looks has others told, too: those that only another instance can reach.
            try store.keepTargets(ours, of: instance, at: now)
            return try store.takeLease("alarms", for: instance, at: now, seconds: Self.evaluationLease)
        }
        guard isOurs else { return }
        try await self.parts.evaluateSightings { self.begin() }
        self.begin()
        let overview = try await self.parts.overview()
        self.begin()
        let causes =
            overview.alarmingHosts.isEmpty
            ? [:] : try await self.parts.store.read { try overview.leadingCauses(in: $0) }
        let firing = Set(overview.alarms.map(\.key))
        // That nothing came while no instance ran, or since a backup was made, is no silence of those who report.
        // A clock that was ahead at the start says nothing of that.
        let age = now.secondsSince1970 - self.begunAt.secondsSince1970
        let knowsSilence = !(0..<HostRate.maximumSilence * 3_600).contains(age)
        let alarms = AlarmRules.alarms(overview.alarmFacts(causes)).filter {
            $0.kind != .silence || knowsSilence || firing.contains($0.key)
        }
        let ahead = Set(overview.probes.filter { $0.lastAttempt > now }.map(\.name))
        self.begin()
        let events = try await self.parts.store.write { store in
            // Once, so that the next probe is missed in time: one that is dated ahead has no age.
            for name in ahead.sorted() { try store.dateBackProbes(of: name, at: now) }
            return try AlarmEvaluation(targets: store.knownTargets(at: now)).apply(
                alarms, in: store, auditHead: overview.auditHead, at: now)
        }
        for event in events { self.say(event) }
        self.say(overview.targets, overview.targetTime)
    }

    /// Says of each target once, until an instance knows it again, that notifications wait for it which no instance
    /// can deliver.
    private func say(_ targets: [StoredTarget], _ now: Timestamp) {
        let stranded = Set(targets.filter { $0.waiting > 0 && !$0.isKnown(at: now) }.map(\.name))
        let new = self.stranded.withLockedValue { told in
            defer { told = stranded }
            return stranded.subtracting(told)
        }
        for name in new.sorted() {
            self.parts.logger.error(
                """
                notifications wait for target \(name), and no instance has known it for ten minutes: name it under alerts: \
                again. After a day they are given up
                """)
        }
    }

    private func say(_ event: AlarmEvent) {
        self.parts.logger.notice("\(event.phase.rawValue): \(event.key) (\(event.severity)): \(event.detail)")
    }

    /// Sends what is due.
    func send() async {
        let now = self.parts.clock.now
        let targets = Dictionary(self.parts.configuration.alerts.map { ($0.name, $0) }) { first, _ in first }
        let names = targets.keys.sorted()
        let due: [StoredNotification]
        let times: (latest: Timestamp, believed: Timestamp)
        self.parts.storeFailures.begin(.sending, by: self.parts.clock)
        do {
            let (taken, lost, latest, believed) = try await self.parts.store.write { store in
                // A clock that is behind would give the leases and waits of others no time.
                let latest = try store.latestTime(by: now)
                return (
                    try store.takeNotifications(
                        for: names, due: now, until: latest.before(-Self.lease), limit: Self.maximum),
                    try store.loseNotifications(butFor: Set(names), at: now), latest,
                    try store.believedTime(by: now)
                )
            }
            self.parts.storeFailures.note(.sending, .success(()), by: self.parts.clock)
            (due, times) = (taken, (latest, believed))
            for (target, count) in lost {
                let why = "no instance has known target \(target) for a day"
                self.parts.logger.error("\(count) notifications were not delivered and are given up: \(why)")
            }
        } catch {
            self.parts.storeFailures.note(.sending, .failure(error), by: self.parts.clock)
            self.parts.logger.storeFailed("notifications cannot be read", error)
            return
        }
        let begin = self.parts.clock.uptime
        // What becomes of each is stored, too.
        self.parts.storeFailures.begin(.sending, by: self.parts.clock)
        defer { self.parts.storeFailures.note(.sending, nil, by: self.parts.clock) }
        // A target that does not answer delays no other; the notifications for one target go out in order.
        await withTaskGroup(of: Void.self) { group in
            for (name, notifications) in Dictionary(grouping: due, by: \.target) {
                guard let target = targets[name] else { continue }
                group.addTask {
                    for notification in notifications.sorted(by: { $0.number < $1.number }) {
                        guard self.parts.clock.uptime - begin < Self.maximumRound else { return }
                        // The notifications after a failed one wait for the end of its lease, and that one goes first.
                        let isDone = await self.send(notification, target, times.latest, believed: times.believed)
                        guard isDone else { return }
                    }
                }
            }
        }
    }

    /// Whether something that was to be told of a message before is still to be told to a target: an acknowledgement of what
    /// a pager does not know is lost. Then it waits.
    private func isEarlier(_ event: AlarmEvent, than notification: StoredNotification, _ now: Timestamp) async -> Bool {
        do {
            return try await self.parts.store.write { store in
                let waiting = try store.notifications(to: notification.target, before: notification.number)
                guard waiting.contains(where: { AlarmEvent($0)?.key == event.key }) else { return false }
                try store.postpone(notification.number, until: now.before(-Self.pause))
                return true
            }
        } catch {
            self.parts.logger.storeFailed("notifications cannot be read", error)
            return true
        }
    }

    /// Posts an event.
    ///
    /// - Returns: The trouble; `nil` where the target took it.
    private func post(_ event: AlarmEvent, to target: AlertTarget) async -> String? {
        do {
            let sender = self.sender
            // One that does not answer must not hold up the end of the service.
            let status = try await cancelWhenGracefulShutdown {
                try await sender.post(WebhookBody.bytes(event, for: target), to: target.address)
            }
            guard !(200..<300).contains(status) else { return nil }
            self.parts.logger.warning("\(target.name) answers \(status)")
            return "it answers \(status)"
        } catch {
            // The address is a secret, and errors of the network may have it in them.
            self.parts.logger.warning("\(target.name) cannot be reached: \(type(of: error))")
            return "it cannot be reached"
        }
    }

    /// Tells the targets of this instance that the store fails, from memory: what tells of all else is in the store. It asks
    /// the store for nothing.
    func tellOfStore() async {
        let (failures, clock) = (self.parts.storeFailures, self.parts.clock)
        guard let event = failures.event(of: self.parts.instance, by: clock) else { return }
        let due = failures.due(self.parts.configuration.alerts, at: clock.uptime)
        if !due.isEmpty { self.say(event) }
        await withTaskGroup(of: Void.self) { group in
            for target in due {
                group.addTask {
                    let trouble = await self.post(event, to: target)
                    failures.note(event, to: target.name, isTaken: trouble == nil, at: clock.uptime)
                }
            }
        }
    }

    /// Tells those who were told that it works again, as of any alarm.
    private func tellThatStoreWorks() async {
        let (failures, clock) = (self.parts.storeFailures, self.parts.clock)
        guard let (begun, targets) = failures.told, failures.event(of: self.parts.instance, by: clock) == nil else {
            return
        }
        let now = clock.now
        failures.begin(.sending, by: clock)
        do {
            try await self.parts.store.write { store in
                let end = AlarmEvent(
                    .recovered, key: begun.key, kind: begun.kind, severity: begun.severity, detail: begun.detail,
                    since: begun.since, time: now,
                    auditHead: try store.newestAuditEntry()?.digest ?? AuditEntry.origin)
                for target in targets { try store.notify(target, end.json.bytes, at: now) }
            }
            failures.forgetTold(targets)
            failures.note(.sending, nil, by: clock)
        } catch {
            failures.note(.sending, .failure(error), by: clock)
            self.parts.logger.storeFailed("that the database works again cannot be told yet", error)
        }
    }

    /// Whether nothing is left to be done about it.
    private func send(
        _ notification: StoredNotification, _ target: AlertTarget, _ now: Timestamp, believed: Timestamp
    ) async -> Bool {
        var isDone = false
        var trouble: String?
        if let event = AlarmEvent(notification.body) {
            if event.phase == .acknowledged, await self.isEarlier(event, than: notification, now) { return true }
            trouble = await self.post(event, to: target)
            isDone = trouble == nil
        } else {
            // An instance of that version may have its turn at it.
            trouble = "a later version wrote the notification"
        }
        let age = believed.secondsSince1970 - notification.madeAt.secondsSince1970
        let isGivenUp = age > Self.maximumDeliverySeconds && notification.attempts >= Self.minimumAttempts
        if !isDone, isGivenUp { self.parts.logger.error("\(notification.target) was not reached for a day; given up") }
        let (isRemoved, why) = (isDone || isGivenUp, trouble)
        let lost: Int64 = isDone || !isGivenUp ? 0 : 1
        let wait = Self.wait(after: notification.attempts)
        do {
            try await self.parts.store.write { store in
                try store.putDelivery(to: notification.target, at: now, trouble: why, losing: lost)
                if isRemoved {
                    try store.removeNotification(notification.number)
                } else {
                    try store.postpone(notification.number, until: now.before(-wait))
                }
            }
        } catch { self.parts.logger.storeFailed("a notification may be sent twice", error) }
        return isRemoved
    }
}
