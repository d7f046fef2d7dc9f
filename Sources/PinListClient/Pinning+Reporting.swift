// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinFailureReports
internal import PinListMetadata

extension Pinning {
    /// The longest sleep while reports wait for a collector, in seconds: another one may be there again.
    private static let maximumWait: Int64 = 120

    /// What reports say of the list in force.
    var reportedList: ReportedList? { self.held.map { ReportedList($0) } }

    /// Sends what is due, and sets the timer of the next report.
    func sendReports() async {
        self.stopReportTimer()
        let before = self.reports
        self.reports.forget(at: self.configuration.clock.now)
        // What could not be stored is tried again here: its collector may be left alone for hours.
        if self.reports != before || !self.areReportsStored { self.storeReports() }
        await self.deliverReports()
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

    /// Takes in what handshakes reported, and stores it before it waits: what ends the process meanwhile loses nothing.
    func collectReports() {
        let arrived = self.inbox.take()
        guard !arrived.isEmpty else { return }
        let before = self.reports
        for (report, time) in arrived {
            let wait = self.configuration.randomness.whole(upTo: ReportLimits.firstWait)
            _ = self.reports.add(report, at: time, after: wait)
        }
        guard self.reports != before else { return }
        self.storeReports()
        self.deliveries.send()
    }

    /// Sends everything that is due. Each attempt is stored before it is made: an answer that ends the process does not
    /// do so at every start.
    private func deliverReports() async {
        // Where nothing is due no random number is spent.
        guard self.reports.due(at: self.configuration.clock.now) != nil else { return }
        var random = SpreadGenerator(seed: self.configuration.randomness.bits())
        var hasSettled = false
        while !Task.isCancelled, let delivery = self.reports.due(at: self.configuration.clock.now) {
            self.reports.begin(delivery, at: self.configuration.clock.now, using: &random)
            self.storeReports()
            let outcome: ReportQueue.Outcome
            do {
                let answer = try await self.configuration.post(delivery.body, to: delivery.address)
                outcome = Self.outcome(answer, at: self.configuration.clock.now)
            } catch {
                let asked = (error as? FetchError)?.retryAfter
                outcome = .failed(retryAfter: asked?.seconds(at: self.configuration.clock.now))
            }
            self.reports.settle(delivery, outcome, at: self.configuration.clock.now, using: &random)
            hasSettled = true
        }
        // What was settled before is stored with the attempt that came after it.
        if hasSettled { self.storeReports() }
    }

    private static func outcome(_ answer: FetchResponse, at now: Timestamp) -> ReportQueue.Outcome {
        switch answer.status {
        case 200..<300: .delivered
        case 400..<500 where answer.status != 408 && answer.status != 429: .refused
        default: .failed(retryAfter: answer.retryAfter?.seconds(at: now))
        }
    }

    private func storeReports() {
        guard self.storage == .ready else { return }
        do throws(StateStoreError) {
            try self.archive.persist(self.reports)
            self.areReportsStored = true
        } catch {
            self.areReportsStored = false
            self.hub.send(PinningEvent(.storeFailed, at: self.configuration.clock.now, error.reason))
        }
    }

    /// Reports that a root or a list was refused.
    func report(_ refusal: MetadataError, of envelope: [UInt8], at now: Timestamp) {
        guard let list = self.reportedList,
            let report = Report(refusal, of: envelope, list: list, app: self.configuration.app, at: now)
        else { return }
        self.inbox.add(report, at: now)
    }

    /// Reports that the list in force has expired.
    func reportStale(at now: Timestamp) {
        guard let list = self.reportedList, let report = Report(stale: list, app: self.configuration.app, at: now)
        else {
            return
        }
        self.inbox.add(report, at: now)
    }
}

/// Random numbers out of one random number.
private struct SpreadGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64: any seed will do, 0 included.
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
