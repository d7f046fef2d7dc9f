// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The reports that wait to be sent, and what was sent within a day. A value: storing and sending are its owner's.
///
/// * Of identical reports one is sent in 24 hours; of those that wait, the one of the newest list.
/// * Each waits a moment before it is sent for the first time; one older than a day is dropped, unless it is a first.
/// * At most ``ReportLimits/waiting`` wait; the newest is dropped and counted. The first of each noted host and reason is
///   not: it takes the place of the newest that is no first, and where all are, it waits without its certificates.
/// * Each address has its own backoff, so that one collector that is gone does not silence another.
public struct ReportQueue: Hashable, Sendable {
    /// A report that waits.
    struct Waiting: Hashable, Sendable {
        let identity: ReportIdentity
        let isFirst: Bool
        var body: [UInt8]
        var addresses: [String]
        /// The version of the list that ``body`` names; `nil` without one, and where an older client stored it.
        var listVersion: Int64? = nil
        /// When it was added; `nil` where an older client stored it, until a time is known.
        var addedAt: Timestamp? = nil
        /// When it is sent for the first time. More than ``ReportLimits/firstWait`` after now, a clock that was ahead
        /// noted it, and it counts as absent (formats.md, section 6).
        var firstAt: Timestamp? = nil

        /// When it may be sent, as far as ``firstAt`` says.
        func earliest(_ now: Timestamp) -> Timestamp {
            guard let firstAt = self.firstAt, firstAt <= now.after(ReportLimits.firstWait) else { return now }
            return max(firstAt, now)
        }

        /// Whether it is no first of its kind and older than ``ReportLimits/oldest``.
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

    /// Something to send now.
    public struct Delivery: Hashable, Sendable {
        /// What it is the same as.
        public let identity: ReportIdentity
        /// Where it goes.
        public let address: String
        /// The body, ``Report/contentType``.
        public let body: [UInt8]
        /// How many attempts at the address failed in a row, this one included unless it succeeds.
        let attempt: Int
    }

    /// What became of a delivery.
    public enum Outcome: Hashable, Sendable {
        /// A status of 2xx.
        case delivered
        /// The collector will never take it: any 4xx but 408 and 429.
        case refused
        /// Anything else; with the seconds of `Retry-After` where the server gave some.
        case failed(retryAfter: Int64?)
    }

    /// What became of a report that was added.
    public enum Addition: Hashable, Sendable {
        /// It waits.
        case waiting
        /// An identical one waits, or went out within a day.
        case identical
        /// There is no room; it is counted.
        case dropped
    }

    var waiting: [Waiting] = []
    var sent: [Sent] = []
    var backoffs: [String: ReportBackoff] = [:]

    /// How many reports were dropped since the queue began.
    public internal(set) var droppedCount: Int64 = 0

    /// An empty queue.
    public init() {}

    /// How many reports wait.
    public var count: Int { self.waiting.count }

    // MARK: Adding

    /// Adds a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - now: The time.
    ///   - wait: How long it waits before it is sent for the first time, in seconds; at most
    ///     ``ReportLimits/firstWait``. The caller draws it.
    public mutating func add(_ report: Report, at now: Timestamp, after wait: Int64 = 0) -> Addition {
        self.forget(at: now)
        let identity = report.identity
        if let index = self.waiting.firstIndex(where: { $0.identity.id == identity.id }) {
            self.renew(index, with: report)
            return .identical
        }
        guard !self.sent.contains(where: { $0.identity.id == identity.id }) else { return .identical }

        let isFirst =
            !self.waiting.contains { $0.identity.kind == identity.kind }
            && !self.sent.contains { $0.identity.kind == identity.kind }
        guard isFirst ? self.makeRoom() : self.hasRoom else {
            self.drop()
            return .dropped
        }
        let bytes = self.waiting.reduce(0) { $0 + $1.body.count }
        var body = report.body
        if self.waiting.count >= ReportLimits.waiting || bytes + body.count > ReportLimits.waitingBytes {
            body = report.briefBody
        }
        guard bytes + body.count <= ReportLimits.waitingBytes else {
            self.drop()
            return .dropped
        }
        self.waiting.append(
            Waiting(
                identity: identity, isFirst: isFirst, body: body, addresses: report.addresses,
                listVersion: report.listVersion, addedAt: now,
                firstAt: now.after(min(max(wait, 0), ReportLimits.firstWait))))
        return .waiting
    }

    /// Carries the newest list: a report that waits takes the body and the addresses of an identical one of a newer
    /// list, which may have been published because the addresses were wrong. It keeps its place and its times.
    private mutating func renew(_ index: Int, with report: Report) {
        guard let version = report.listVersion, version > self.waiting[index].listVersion ?? .min else { return }
        let others = self.waiting.reduce(0) { $0 + $1.body.count } - self.waiting[index].body.count
        let bodies = [report.body, report.briefBody]
        guard let body = bodies.first(where: { others + $0.count <= ReportLimits.waitingBytes }) else { return }
        self.waiting[index].body = body
        self.waiting[index].addresses = report.addresses
        self.waiting[index].listVersion = version
        self.forgetBackoffs()
    }

    private var hasRoom: Bool {
        self.waiting.count < ReportLimits.waiting && self.waiting.count + self.sent.count < ReportLimits.perDay
    }

    /// Makes room for a first: the newest that is none goes.
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

    /// Forgets what was sent a day ago, and drops and counts what waited for longer than ``ReportLimits/oldest`` and is no
    /// first of its kind.
    ///
    /// What was sent later than now was sent by a clock that was ahead, and counts as not sent. What was added later than
    /// now, or by a client that noted no time, was added now.
    public mutating func forget(at now: Timestamp) {
        self.sent.removeAll { $0.time > now || $0.time.after(ReportLimits.silence) <= now }
        for index in self.waiting.indices where self.waiting[index].addedAt.map({ $0 > now }) ?? true {
            self.waiting[index].addedAt = now
        }
        let before = self.waiting.count
        self.waiting.removeAll { $0.isTooOld(at: now) }
        for _ in self.waiting.count..<before { self.drop() }
        if self.waiting.count < before { self.forgetBackoffs() }
    }

    /// Forgets backoffs of addresses that nothing goes to.
    private mutating func forgetBackoffs() {
        let used = Set(self.waiting.flatMap(\.addresses))
        self.backoffs = self.backoffs.filter { used.contains($0.key) }
    }

    // MARK: Sending

    /// What is to be sent now: the oldest report whose first wait is over, with an address that is not left alone. It
    /// waits on until ``settle(_:_:at:using:)`` says what became of it.
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

    /// When something will be due: at once, later, or, with nothing waiting, never.
    public func nextDue(at now: Timestamp) -> Timestamp? {
        self.waiting.compactMap { waiting in
            waiting.addresses.map { max(waiting.earliest(now), self.earliest($0, now)) }.min()
        }.min()
    }

    private func earliest(_ address: String, _ now: Timestamp) -> Timestamp {
        self.backoffs[address]?.earliest(now) ?? now
    }

    /// Says that a delivery is about to be tried. Until it is settled it counts as failed: whoever stores the queue now
    /// leaves the address alone for a while when the attempt ends the process.
    public mutating func begin(
        _ delivery: Delivery, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) {
        self.backoffs[delivery.address] = ReportBackoff(
            failures: delivery.attempt, at: now, retryAfter: nil, using: &random)
    }

    /// Says what became of a delivery. One that is not waiting any more changes nothing but the address's backoff.
    public mutating func settle(
        _ delivery: Delivery, _ outcome: Outcome, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) {
        switch outcome {
        case .failed(let retryAfter):
            self.backoffs[delivery.address] = ReportBackoff(
                failures: delivery.attempt, at: now, retryAfter: retryAfter, using: &random)
        case .delivered, .refused:
            // Somebody is there and answers.
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
