// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Stores reports in groups: those that come while others are written are written together, in one transaction, and
/// each sender waits for the commit that has its report in it. So 202 means that it is on the disk, and a thousand of
/// them cost one fsync.
final class ReportIntake: Sendable {
    /// The maximum number of reports of one transaction: they share one fsync, and other writers wait for them.
    static let maximumBatchSize = 2_000
    /// The maximum number of bytes of the reports of one transaction: while they are written there are two copies of what is
    /// kept of them, and a third on its way to PostgreSQL.
    static let maximumBatchBytes = 8_388_608
    /// The maximum number of reports that wait: beyond it the store is too slow, and senders are asked to come again.
    static let maximumWaiting = 20_000
    /// The maximum number of bytes of all reports that wait: memory that senders can fill.
    static let maximumWaitingBytes = 67_108_864

    /// The maximum number of bytes of all envelopes that wait, eight of the largest. They have room of their own:
    /// incidents keep no other report waiting.
    static let maximumWaitingEnvelopeBytes = 33_554_432

    /// The time for which reports are tried again that need what another instance holds, in seconds: as long as a writer waits
    /// for another one. Then their senders are asked to come again, before they give up themselves: a client waits ten seconds
    /// for the begin of an answer, and what it sends again after that would be counted twice.
    static let maximumHold = 5.0
    /// The part of the line that may wait for another instance, one in so many: all others have the rest of it.
    static let heldPart = 4

    /// The error that there is no room: the store does not keep up.
    struct CongestionError: Error {
        /// The length of the line, in seconds (``TurnedAway``).
        let line: Int64
    }

    /// The closure that gets what became of reports, once: stored, or the error of the store.
    typealias Completion = @Sendable (Result<Void, any Error>) -> Void

    /// What bodies take while they wait.
    private struct Load {
        var reports = 0
        var bytes = 0
        var envelopeBytes = 0

        static func + (left: Load, right: Load) -> Load {
            Load(
                reports: left.reports + right.reports, bytes: left.bytes + right.bytes,
                envelopeBytes: left.envelopeBytes + right.envelopeBytes)
        }

        /// Whether one in so many of all that may wait has room for it.
        func fits(part: Int) -> Bool {
            self.reports <= ReportIntake.maximumWaiting / part && self.bytes <= ReportIntake.maximumWaitingBytes / part
                && self.envelopeBytes <= ReportIntake.maximumWaitingEnvelopeBytes / part
        }
    }

    private struct Waiting {
        let reports: [AcceptedReport]
        let load: Load
        let completion: Completion
        /// The uptime at which they wait no longer for another instance; `nil` before they did.
        var end: Double?
    }

    /// What became of a batch.
    private struct Outcome {
        /// What was to be written, with the result.
        var written: [Waiting] = []
        var result: Result<Void, any Error> = .success(())
        /// What waits for another instance, and was not.
        var held: [Waiting] = []
    }

    private struct Line {
        var waiting: [Waiting] = []
        /// Those that wait for another instance.
        var held: [Waiting] = []
        /// All of these, and what is being written.
        var load = Load()
        var isWriting = false
        var turnedAway = TurnedAway(of: ReportIntake.maximumWaiting)
        var written: (batches: Int64, reports: Int64) = (0, 0)

        mutating func leave(_ waiting: Waiting) {
            self.load.reports -= waiting.load.reports
            self.load.bytes -= waiting.load.bytes
            self.load.envelopeBytes -= waiting.load.envelopeBytes
        }
    }

    private let store: any ServiceStore
    /// Names this instance where several count networks in one database.
    private let instance: String
    private let clock: any ServiceClock
    private let pause: Duration
    private let failures: StoreFailures
    private let line = NIOLockedValueBox(Line())

    /// The number of waiting reports, those that are being written included.
    var waitingCount: Int { self.line.withLockedValue { $0.load.reports } }

    /// The number of transactions, and of the reports in them.
    var written: (batches: Int64, reports: Int64) { self.line.withLockedValue { $0.written } }

    /// An intake.
    ///
    /// - Parameters:
    ///   - store: The store of reports.
    ///   - instance: A name that no other instance has.
    ///   - clock: The clock of the time that reports wait for another instance.
    ///   - pause: The pause between two tries, when nothing but such reports is there.
    ///   - failures: The store's failures, which are told without it.
    init(
        store: any ServiceStore, instance: String, clock: any ServiceClock = SystemServiceClock(),
        pause: Duration = .milliseconds(5), failures: StoreFailures = StoreFailures()
    ) {
        self.store = store
        self.instance = instance
        self.clock = clock
        self.pause = pause
        self.failures = failures
    }

    /// Stores reports, with others that come at the same time.
    ///
    /// - Throws: ``CongestionError``, and the error of the store: then none of them is stored.
    func store(_ reports: [AcceptedReport]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            self.store(reports) { continuation.resume(with: $0) }
        }
    }

    /// Stores reports, with others that come at the same time.
    ///
    /// - Parameters:
    ///   - reports: The reports.
    ///   - completion: The closure that gets the result, on any thread; a ``CongestionError`` at once.
    func store(_ reports: [AcceptedReport], completion: @escaping Completion) {
        guard !reports.isEmpty else { return completion(.success(())) }
        let load = Load(
            reports: reports.count, bytes: reports.reduce(0) { $0 + $1.weight },
            envelopeBytes: reports.reduce(0) { $0 + ($1.report.envelope?.count ?? 0) })
        let waiting = Waiting(reports: reports, load: load, completion: completion)
        let (refused, begins): (CongestionError?, Bool) = self.line.withLockedValue { line in
            guard (line.load + load).fits(part: 1) else {
                return (CongestionError(line: line.turnedAway.add(reports.count, behind: line.load.reports)), false)
            }
            line.waiting.append(waiting)
            line.load = line.load + load
            defer { line.isWriting = true }
            return (nil, !line.isWriting)
        }
        if let refused { completion(.failure(refused)) }
        if begins { self.write() }
    }

    /// Counts reports that are not taken, because the store failed.
    ///
    /// - Parameters:
    ///   - count: The number of reports.
    ///   - minimum: The shortest answer, in seconds.
    /// - Returns: The length of the line, in seconds.
    func turnAway(_ count: Int, minimum: Int64) -> Int64 {
        self.line.withLockedValue { $0.turnedAway.add(count, behind: $0.load.reports, minimum: minimum) }
    }

    /// Writes what waits, one batch behind the other. In the store's thread, where it has one: each task that is woken between
    /// two batches waits for a processor that is busy with requests.
    private func write() {
        if let batch = self.nextBatch() { self.append(batch) }
    }

    /// Stores what can be stored now: a body whose reports have to wait for another instance keeps no other one waiting
    /// (docs/decisions/0082).
    private func append(_ batch: [Waiting], holding held: [Waiting] = []) {
        guard !batch.isEmpty else { return self.end(Outcome(held: held)) }
        let (reports, instance) = (batch.flatMap(\.reports), self.instance)
        self.failures.begin(.reports, by: self.clock)
        self.store.append({ try $0.add(reports, countedBy: instance) }) { result in
            var (waits, others): ([Waiting], [Waiting]) = ([], batch)
            if case .failure(let error) = result {
                (waits, others) = Self.split(batch, by: error as? ReportsMustWait)
            }
            guard waits.isEmpty else { return self.append(others, holding: held + waits) }
            self.end(Outcome(written: batch, result: result, held: held))
        }
    }

    /// Tells what became of a batch, and goes on with the next one.
    private func end(_ outcome: Outcome) {
        self.failures.note(.reports, outcome.written.isEmpty ? nil : outcome.result, by: self.clock)
        self.line.withLockedValue { line in
            for waiting in outcome.written { line.leave(waiting) }
            guard case .success = outcome.result, !outcome.written.isEmpty else { return }
            let reports = outcome.written.reduce(0) { $0 + $1.reports.count }
            line.written.batches += 1
            line.written.reports += Int64(reports)
            line.turnedAway.took(reports, leaving: line.load.reports)
        }
        for waiting in outcome.written { waiting.completion(outcome.result) }
        let isAlone = self.hold(outcome.held)
        guard outcome.written.isEmpty, isAlone else { return self.write() }
        Task {
            try? await Task.sleep(for: self.pause)
            self.write()
        }
    }

    /// The bodies with a report that has to wait, and the others.
    private static func split(
        _ batch: [Waiting], by error: ReportsMustWait?
    ) -> (waits: [Waiting], others: [Waiting]) {
        guard let error else { return ([], batch) }
        var (waits, others, end) = ([Waiting](), [Waiting](), 0)
        for waiting in batch {
            let places = end..<(end + waiting.reports.count)
            end = places.upperBound
            if error.places.isDisjoint(with: places) { others.append(waiting) } else { waits.append(waiting) }
        }
        return (waits, others)
    }

    /// Puts back what has to wait for another instance: it is tried again with each batch, in turns.
    ///
    /// - Returns: Whether nothing else waits.
    private func hold(_ held: [Waiting]) -> Bool {
        let now = self.clock.uptime
        let (refused, isAlone) = self.line.withLockedValue { line in
            var refused: [(waiting: Waiting, error: CongestionError)] = []
            var load = line.held.reduce(Load()) { $0 + $1.load }
            for var waiting in held {
                let (end, all) = (waiting.end ?? now + Self.maximumHold, load + waiting.load)
                if now < end, all.fits(part: Self.heldPart) {
                    (waiting.end, load) = (end, all)
                    line.held.append(waiting)
                } else {
                    line.leave(waiting)
                    let length = line.turnedAway.add(waiting.reports.count, behind: line.load.reports)
                    refused.append((waiting, CongestionError(line: length)))
                }
            }
            return (refused, line.waiting.isEmpty)
        }
        for (waiting, error) in refused { waiting.completion(.failure(error)) }
        return isAlone
    }

    /// The reports of the next transaction; `nil` when none waits, and then nothing writes. Those that had to wait for another
    /// instance are half of it at most.
    private func nextBatch() -> [Waiting]? {
        self.line.withLockedValue { line in
            guard !line.waiting.isEmpty || !line.held.isEmpty else {
                line.isWriting = false
                return nil
            }
            let again = Self.removeFirst(Self.maximumBatchSize / 2, Self.maximumBatchBytes / 2, of: &line.held)
            let load = again.reduce(Load()) { $0 + $1.load }
            return again
                + Self.removeFirst(
                    Self.maximumBatchSize - load.reports, Self.maximumBatchBytes - load.bytes, of: &line.waiting)
        }
    }

    /// The first bodies with so many reports and bytes at most, and one body at least.
    private static func removeFirst(
        _ maximum: Int, _ maximumBytes: Int, of waiting: inout [Waiting]
    ) -> [Waiting] {
        var load = Load()
        let end = waiting.firstIndex { waiting in
            load = load + waiting.load
            return load.reports > maximum || load.bytes > maximumBytes
        }
        let first = Array(waiting.prefix(max(end ?? waiting.count, 1)))
        waiting.removeFirst(first.count)
        return first
    }
}

/// The cost of a body of `POST /v1/reports`, in tokens of its source and of all (formats.md, section 7).
///
/// A token is what one usual report costs: 32 KiB to be read and parsed, one row, one group. What costs more is charged
/// more, so that no body is cheaper than the same work in others (decision 0046).
enum ReportCost {
    /// The number of bytes that a token pays for. A report with two chains of four certificates has 20 KiB.
    static let bytesOfToken = 32_768
    /// The number of bytes for whose check under one signature a token pays: Ed25519 and ML-DSA-65 hash the whole list
    /// anew for each of at most 32 signatures (formats.md, section 3.2), and 64 KiB of that take as long as a report.
    static let signedBytesOfToken = 65_536

    /// The cost of reading a body: known before it is parsed.
    static func reading(_ bytes: Int) -> Int { max(1, Self.parts(bytes, of: Self.bytesOfToken)) }

    /// The cost of a body in all: its reports, or reading it, or the checks of an envelope's signatures, whichever is
    /// most.
    static func all(of collected: CollectedReports, bytes: Int) -> Int {
        collected.reports.reduce(max(Self.reading(bytes), collected.reports.count)) { maximum, report in
            max(maximum, report.envelope.map(Self.checking) ?? 1)
        }
    }

    /// The cost of checking whether an envelope was signed: nothing where it cannot be read.
    private static func checking(_ envelope: [UInt8]) -> Int {
        guard let read = try? Envelope(envelope, of: .pins, limits: MetadataLimits()) else { return 1 }
        return read.signatures.count * Self.parts(envelope.count, of: Self.signedBytesOfToken)
    }

    private static func parts(_ bytes: Int, of size: Int) -> Int { (bytes + size - 1) / size }
}
