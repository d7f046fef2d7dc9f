// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Stores reports in groups: those that come while others are written are written together, in one transaction, and
/// each sender waits for the commit that has its report in it. So 202 means that it is on the disk, and a thousand of
/// them cost one fsync.
actor ReportIntake {
    /// The most reports of one transaction.
    static let maximumBatchSize = 2_000
    /// The most reports that wait: beyond it the store is too slow, and senders are asked to come again.
    static let maximumWaiting = 20_000
    /// The most bytes of all reports that wait.
    static let maximumWaitingBytes = 67_108_864

    /// The most bytes of all envelopes that wait, eight of the largest. They have room of their own: incidents keep no
    /// other report waiting.
    static let maximumWaitingEnvelopeBytes = 33_554_432

    /// The error that there is no room: the store does not keep up.
    struct CongestionError: Error {
        /// The length of the line, in seconds (``TurnedAway``).
        let line: Int64
    }

    private struct Waiting {
        let reports: [AcceptedReport]
        let bytes: Int
        let envelopeBytes: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let store: any ServiceStore
    /// Names this instance where several count networks in one database.
    private let instance: String
    private var waiting: [Waiting] = []
    private var waitingReports = 0
    private var waitingBytes = 0
    private var waitingEnvelopeBytes = 0
    private var isWriting = false
    private var turnedAway = TurnedAway(of: ReportIntake.maximumWaiting)

    /// The number of waiting reports, those that are being written included.
    var waitingCount: Int { self.waitingReports }

    /// The number of transactions, and of the reports in them.
    private(set) var written: (batches: Int64, reports: Int64) = (0, 0)

    /// An intake.
    ///
    /// - Parameters:
    ///   - store: The store of reports.
    ///   - instance: A name that no other instance has.
    init(store: any ServiceStore, instance: String) {
        self.store = store
        self.instance = instance
    }

    /// Stores reports, with others that come at the same time.
    ///
    /// - Throws: ``Congestion``, and what the store says: then none of them is stored.
    func store(_ reports: [AcceptedReport]) async throws {
        guard !reports.isEmpty else { return }
        let bytes = reports.reduce(0) { $0 + $1.weight }
        let envelopeBytes = reports.reduce(0) { $0 + ($1.report.envelope?.count ?? 0) }
        guard self.waitingReports + reports.count <= Self.maximumWaiting,
            self.waitingBytes + bytes <= Self.maximumWaitingBytes,
            envelopeBytes == 0 || self.waitingEnvelopeBytes + envelopeBytes <= Self.maximumWaitingEnvelopeBytes
        else { throw CongestionError(line: self.turnAway(reports.count)) }
        try await withCheckedThrowingContinuation { continuation in
            self.waiting.append(
                Waiting(
                    reports: reports, bytes: bytes, envelopeBytes: envelopeBytes, continuation: continuation))
            self.waitingReports += reports.count
            self.waitingBytes += bytes
            self.waitingEnvelopeBytes += envelopeBytes
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.write() }
        }
    }

    /// Counts reports that are not taken, because there is no room or because the store failed.
    ///
    /// - Parameters:
    ///   - count: The number of reports.
    ///   - minimum: The shortest answer, in seconds.
    /// - Returns: The length of the line, in seconds.
    func turnAway(_ count: Int, minimum: Int64 = 60) -> Int64 {
        self.turnedAway.add(count, behind: self.waitingReports, minimum: minimum)
    }

    private func write() async {
        while !self.waiting.isEmpty {
            var count = 0
            let end = self.waiting.firstIndex { waiting in
                count += waiting.reports.count
                return count > Self.maximumBatchSize
            }
            let batch = Array(self.waiting.prefix(max(end ?? self.waiting.count, 1)))
            self.waiting.removeFirst(batch.count)
            let reports = batch.flatMap(\.reports)
            let instance = self.instance
            let outcome: Result<Void, any Error>
            var taken = 0
            do {
                try await self.store.append { try $0.add(reports, countedBy: instance) }
                outcome = .success(())
                self.written.batches += 1
                self.written.reports += Int64(reports.count)
                taken = reports.count
            } catch { outcome = .failure(error) }
            self.waitingReports -= reports.count
            if taken > 0 { self.turnedAway.took(taken, leaving: self.waitingReports) }
            self.waitingBytes -= batch.reduce(0) { $0 + $1.bytes }
            self.waitingEnvelopeBytes -= batch.reduce(0) { $0 + $1.envelopeBytes }
            for waiting in batch { waiting.continuation.resume(with: outcome) }
        }
        self.isWriting = false
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
