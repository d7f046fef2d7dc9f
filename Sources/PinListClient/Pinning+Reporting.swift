// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinFailureReports
internal import PinListMetadata

extension Pinning {
    /// The maximum sleep while reports wait for a collector, in seconds: another collector may be back.
    private static let maximumWait: Int64 = 120
    /// The pause between two reports that the list in force has expired, in seconds. The queue takes one that it has, or has
    /// sent, for the same; one that it has no room for it counts and stores, which no look at the schedule should cost.
    private static let stalePause: Int64 = 3_600

    /// The members of reports about the list in force.
    var reportedList: ReportedList? { self.held.map { ReportedList($0) } }

    /// Sends the due reports, and sets the timer of the next one.
    func sendReports() async {
        self.stopReportTimer()
        self.readAgain()
        let looked = self.configuration.clock.now
        var reports = self.reports
        reports.forget(at: looked)
        // Storing is tried again here, because the collector may have a backoff of hours.
        if self.reports != reports || !self.areReportsStored { self.storeReports { $0.forget(at: looked) } }
        // Of several calls of `run()` one sends, and sets the timer.
        guard !self.isSending else { return }
        self.isSending = true
        await self.deliverReports()
        self.isSending = false
        let now = self.configuration.clock.now
        guard !Task.isCancelled, let next = self.reports.nextDue(at: now) else { return }
        let (wait, isOver) = next.secondsSince1970.subtractingReportingOverflow(now.secondsSince1970)
        let maximum = isOver ? Self.maximumWait : min(max(wait, 1), Self.maximumWait)
        let (clock, deliveries) = (self.configuration.clock, self.deliveries)
        self.reportTimer = Task {
            if (try? await clock.sleep(seconds: Double(maximum))) != nil { deliveries.send() }
        }
    }

    /// Cancels the timer of the next report.
    func stopReportTimer() {
        self.reportTimer?.cancel()
        self.reportTimer = nil
    }

    /// Takes a report for the queue, from any thread.
    nonisolated func add(_ report: Report, at now: Timestamp) {
        self.inbox.add(report, at: now, after: self.configuration.randomness.whole(upTo: ReportLimits.firstWait))
    }

    /// Adds the reports of handshakes to the queue and stores them at once, so that the end of the process loses none.
    func collectReports() {
        let arrived = self.inbox.take()
        guard arrived.count > 0 else { return }
        let now = self.configuration.clock.now
        var reports = self.reports
        reports.add(arrived, at: now)
        guard self.reports != reports else { return }
        self.storeReports { $0.add(arrived, at: now) }
        self.deliveries.send()
    }

    /// Sends all due reports. Each attempt is stored before it is made, so that an answer that ends the process does
    /// not end it again at every start.
    private func deliverReports() async {
        // Without a due report no random number is used.
        guard self.reports.due(at: self.configuration.clock.now) != nil else { return }
        var random = SpreadGenerator(seed: self.configuration.randomness.bits())
        var hasSettled = false
        while !Task.isCancelled, let delivery = self.beginDelivery(using: &random) {
            let outcome: ReportQueue.Outcome
            do {
                let answer = try await self.configuration.post(delivery.body, to: delivery.address)
                outcome = Self.outcome(answer, at: self.configuration.clock.now)
            } catch {
                // Nothing is known of the collector, and the app is about to be suspended: the attempt stays as it is stored.
                guard !Task.isCancelled else { return }
                let asked = (error as? FetchError)?.retryAfter
                outcome = .failed(retryAfter: asked?.seconds(at: self.configuration.clock.now))
            }
            self.reports.settle(delivery, outcome, at: self.configuration.clock.now, using: &random)
            hasSettled = true
        }
        // The outcome of an attempt is stored with the next attempt.
        if hasSettled { self.storeReports() }
    }

    /// The next delivery, begun in the store: what another process sent, or is sending, is not due here.
    private func beginDelivery(using random: inout SpreadGenerator) -> ReportQueue.Delivery? {
        let now = self.configuration.clock.now
        guard self.reports.due(at: now) != nil else { return nil }
        var delivery: ReportQueue.Delivery?
        self.storeReports { reports in
            delivery = reports.due(at: now)
            if let delivery { reports.begin(delivery, at: now, using: &random) }
        }
        return delivery
    }

    private static func outcome(_ answer: FetchResponse, at now: Timestamp) -> ReportQueue.Outcome {
        switch answer.status {
        case 200..<300: .delivered
        case 400..<500 where answer.status != 408 && answer.status != 429: .refused
        default: .failed(retryAfter: answer.retryAfter?.seconds(at: now))
        }
    }

    /// Changes the queue and stores it, with what other processes stored meanwhile. Where that fails, it is changed in memory.
    func storeReports(_ change: (inout ReportQueue) -> Void = { _ in }) {
        guard self.storage == .ready else { return change(&self.reports) }
        let now = self.configuration.clock.now
        var hasChanged = false
        do throws(StateStoreError) {
            try self.archive.persist(&self.reports, since: &self.storedReports, at: now) { reports in
                change(&reports)
                hasChanged = true
            }
            self.areReportsStored = true
        } catch {
            if !hasChanged { change(&self.reports) }
            self.areReportsStored = false
            self.note(error, at: now)
        }
    }

    /// Reports that a root or a list was refused.
    func report(_ refusal: MetadataError, of envelope: [UInt8], at now: Timestamp) {
        guard let list = self.reportedList,
            let report = Report(refusal, of: envelope, list: list, app: self.configuration.app, at: now)
        else { return }
        self.add(report, at: now)
    }

    /// Reports that the list in force has expired, once an hour at most.
    func reportStale(at now: Timestamp) {
        guard self.stalePause.map({ $0.secondsLeft(at: now) == 0 }) ?? true, let list = self.reportedList,
            let report = Report(stale: list, app: self.configuration.app, at: now)
        else { return }
        self.stalePause = RefreshState.Pause(from: now, seconds: Self.stalePause)
        self.add(report, at: now)
    }
}

/// A sequence of random numbers from one seed.
private struct SpreadGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64: any seed is allowed, 0 included.
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
