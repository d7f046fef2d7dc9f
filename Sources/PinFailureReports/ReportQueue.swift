// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// The queue of reports: those that wait to be sent, and those that were sent within a day. A value: the client stores
/// and sends.
///
/// * Of identical reports one is sent in 24 hours; of those that wait, the one of the newest list.
/// * Each waits for a random time before it is first sent; one older than a day is dropped, unless it is a first.
/// * At most ``ReportLimits/waiting`` wait; the newest is dropped and counted. The first of each noted host and reason is
///   kept: it replaces the newest that is not a first, and where all are firsts, it waits without its certificates.
/// * Each address has its own backoff, so that a failing collector does not delay reports to another.
public struct ReportQueue: Hashable, Sendable {
    /// A waiting report.
    struct Waiting: Hashable, Sendable {
        let identity: ReportIdentity
        /// Whether it is the first of its kind.
        var isFirst: Bool
        var body: [UInt8]
        var addresses: [String]
        /// The place of the list that ``body`` names; `nil` without one, and for a report that an older client
        /// stored.
        var list: ListOrder? = nil
        /// The time when it was added; `nil` for a report that an older client stored, until a time is known.
        var addedAt: Timestamp? = nil
        /// The time of the first attempt. A time more than ``ReportLimits/firstWait`` after now was noted by a clock
        /// that was ahead, and counts as absent (formats.md, section 6).
        var firstAt: Timestamp? = nil

        /// The earliest time of an attempt by ``firstAt``.
        func earliest(_ now: Timestamp) -> Timestamp {
            guard let firstAt = self.firstAt, firstAt <= now.after(ReportLimits.firstWait) else { return now }
            return max(firstAt, now)
        }

        /// Whether it is not a first of its kind and older than ``ReportLimits/oldest``.
        func isTooOld(at now: Timestamp) -> Bool {
            guard !self.isFirst, let addedAt = self.addedAt else { return false }
            return addedAt.after(ReportLimits.oldest) < now
        }
    }

    /// A report that went out.
    struct Sent: Hashable, Sendable {
        let identity: ReportIdentity
        let time: Timestamp
    }

    /// A delivery: a report to send now to one address.
    public struct Delivery: Hashable, Sendable {
        /// The identity: reports with an equal one are the same.
        public let identity: ReportIdentity
        /// The address.
        public let address: String
        /// The body, ``Report/contentType``.
        public let body: [UInt8]
        /// The number of failed attempts at the address in a row, this one included unless it succeeds.
        let attempt: Int
    }

    /// The outcome of a delivery.
    public enum Outcome: Hashable, Sendable {
        /// A status of 2xx.
        case delivered
        /// The collector will never accept it: any 4xx but 408 and 429.
        case refused
        /// Any other answer or failure; with the seconds of `Retry-After` where the server gave some.
        case failed(retryAfter: Int64?)
    }

    /// The outcome of adding a report.
    public enum Addition: Hashable, Sendable {
        /// The report waits.
        case waiting
        /// An identical one waits, or went out within a day.
        case identical
        /// The queue is full; the report is dropped and counted.
        case dropped
    }

    var waiting: [Waiting] = []
    var sent: [Sent] = []
    var backoffs: [String: ReportBackoff] = [:]

    /// The number of reports that were dropped since the queue was created.
    public internal(set) var droppedCount: Int64 = 0

    /// An empty queue.
    public init() {}

    /// The number of waiting reports.
    public var count: Int { self.waiting.count }

    // MARK: Adding

    /// Adds a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - now: The time.
    ///   - wait: The wait before it is first sent, in seconds; at most ``ReportLimits/firstWait``. The caller chooses
    ///     it at random.
    public mutating func add(_ report: Report, at now: Timestamp, after wait: Int64 = 0) -> Addition {
        self.forget(at: now)
        let id = report.identity.id
        let report = Waiting(
            identity: report.identity, isFirst: true, body: report.body, addresses: report.addresses,
            list: report.list, addedAt: now,
            firstAt: now.after(min(max(wait, 0), ReportLimits.firstWait)))
        if let index = self.waiting.firstIndex(where: { $0.identity.id == id }) {
            self.renew(index, with: report)
            return .identical
        }
        guard !self.sent.contains(where: { $0.identity.id == id }) else { return .identical }
        return self.append(report, at: now) ? .waiting : .dropped
    }

    /// Appends a report, or drops and counts it where there is no room. It stays a first where none of its kind is there.
    mutating func append(_ report: Waiting, at now: Timestamp) -> Bool {
        var report = report
        let kind = report.identity.kind
        if self.waiting.contains(where: { $0.identity.kind == kind })
            || self.sent.contains(where: { $0.identity.kind == kind })
        {
            report.isFirst = false
        }
        guard report.isFirst ? self.makeRoom() : self.hasRoom else {
            self.drop()
            return false
        }
        let bytes = self.waiting.reduce(0) { $0 + $1.body.count }
        if self.waiting.count >= ReportLimits.waiting || bytes + report.body.count > ReportLimits.waitingBytes {
            report.body = Report.brief(report.body)
        }
        guard bytes + report.body.count <= ReportLimits.waitingBytes else {
            self.drop()
            return false
        }
        self.waiting.append(report)
        return true
    }

    /// Replaces the body and the addresses of a waiting report by those of an identical one under a newer list, which
    /// may have been published because the addresses were wrong. Its place and its times stay.
    mutating func renew(_ index: Int, with report: Waiting) {
        guard let list = report.list, self.waiting[index].list.map({ $0 < list }) ?? true else { return }
        let room =
            ReportLimits.waitingBytes - self.waiting.reduce(0) { $0 + $1.body.count } + self.waiting[index].body.count
        let body = report.body.count <= room ? report.body : Report.brief(report.body)
        guard body.count <= room else { return }
        self.waiting[index].body = body
        self.waiting[index].addresses = report.addresses
        self.waiting[index].list = list
        self.forgetBackoffs()
    }

    private var hasRoom: Bool {
        self.waiting.count < ReportLimits.waiting && self.waiting.count + self.sent.count < ReportLimits.perDay
    }

    /// Makes room for a first: removes the newest report that is not a first.
    private mutating func makeRoom() -> Bool {
        guard self.waiting.count + self.sent.count < ReportLimits.known else { return false }
        guard self.waiting.count >= ReportLimits.waiting else { return true }
        if let newest = self.waiting.lastIndex(where: { !$0.isFirst }) {
            self.waiting.remove(at: newest)
            self.forgetBackoffs()
            self.drop()
            return true
        }
        return self.waiting.count < ReportLimits.waitingWithFirsts
    }

    private mutating func drop() { self.droppedCount = min(self.droppedCount, .max - 1) + 1 }

    /// Removes reports that were sent a day ago. Drops and counts reports that are older than ``ReportLimits/oldest``
    /// and not the first of their kind.
    ///
    /// A time of sending later than now is from a clock that was ahead, and the report counts as not sent. A report
    /// that was added later than now, or without a time, counts as added now.
    public mutating func forget(at now: Timestamp) {
        self.distrustClock(at: now)
        let before = self.waiting.count
        self.waiting.removeAll { $0.isTooOld(at: now) }
        for _ in self.waiting.count..<before { self.drop() }
        if self.waiting.count < before { self.forgetBackoffs() }
    }

    /// Removes reports that were sent a day ago, or later than now. What was added later than now, or without a time, counts
    /// as added now.
    mutating func distrustClock(at now: Timestamp) {
        self.sent.removeAll { $0.time > now || $0.time.after(ReportLimits.silence) <= now }
        for index in self.waiting.indices where self.waiting[index].addedAt.map({ $0 > now }) ?? true {
            self.waiting[index].addedAt = now
        }
    }

    /// Removes backoffs of addresses without a waiting report.
    mutating func forgetBackoffs() {
        let used = Set(self.waiting.flatMap(\.addresses))
        self.backoffs = self.backoffs.filter { used.contains($0.key) }
    }

    // MARK: Sending

    /// The next delivery: the oldest report whose first wait is over, to an address without a backoff. The report stays
    /// in the queue until ``settle(_:_:at:using:)`` is called.
    public func due(at now: Timestamp) -> Delivery? {
        for waiting in self.waiting where waiting.earliest(now) <= now {
            guard let address = waiting.addresses.first(where: { self.earliest($0, now) <= now }) else { continue }
            let failures = self.backoffs[address]?.failures ?? 0
            return Delivery(
                identity: waiting.identity, address: address, body: waiting.body,
                attempt: min(failures, ReportBackoff.maximumFailures - 1) + 1)
        }
        return nil
    }

    /// The time of the next delivery; `nil` when no report waits.
    public func nextDue(at now: Timestamp) -> Timestamp? {
        self.waiting.compactMap { waiting in waiting.addresses.map { self.nextDue(waiting, $0, at: now) }.min() }.min()
    }

    /// The time when neither the report's first wait nor the address's backoff holds a delivery back. A time that is too
    /// far ahead for the clock of now may count for the clock of then: each is asked again until both let it go, which
    /// takes at most three rounds, because neither holds back after its own end.
    private func nextDue(_ waiting: Waiting, _ address: String, at now: Timestamp) -> Timestamp {
        var time = now
        while true {
            let next = max(waiting.earliest(time), self.earliest(address, time))
            guard next > time else { return time }
            time = next
        }
    }

    private func earliest(_ address: String, _ now: Timestamp) -> Timestamp {
        self.backoffs[address]?.earliest(now) ?? now
    }

    /// Records an attempt at a delivery. Until it is settled it counts as failed when its time is over: when the attempt
    /// ends the process, the stored queue has a backoff for the address.
    public mutating func begin(
        _ delivery: Delivery, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) {
        self.backoffs[delivery.address] = ReportBackoff(
            failures: delivery.attempt, at: now, lasting: ReportLimits.attempt, using: &random)
    }

    /// Records the outcome of a delivery. For a report that does not wait any more only the address's backoff changes.
    public mutating func settle(
        _ delivery: Delivery, _ outcome: Outcome, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) {
        switch outcome {
        case .failed(let retryAfter):
            self.backoffs[delivery.address] = ReportBackoff(
                failures: delivery.attempt, at: now, retryAfter: retryAfter, using: &random)
        case .delivered, .refused:
            // The server answers.
            self.backoffs[delivery.address] = nil
            guard let index = self.waiting.firstIndex(where: { $0.identity == delivery.identity }) else { break }
            self.waiting[index].addresses.removeAll { $0 == delivery.address }
            guard self.waiting[index].addresses.isEmpty else { break }
            self.sent.append(Sent(identity: self.waiting.remove(at: index).identity, time: now))
        }
        self.forget(at: now)
        self.forgetBackoffs()
    }
}
