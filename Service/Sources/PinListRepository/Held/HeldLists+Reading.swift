// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata
internal import PinRotation

extension HeldLists {
    /// The known times of a version.
    private struct Span {
        let version: Int64
        /// The list, where it was read already.
        var list: PinList?
        /// The time of its first publication.
        let first: Timestamp
        /// The last time that it is recorded to have gone out: only since then is it sure that it was out.
        let last: Timestamp
        /// Whether its publication was recorded.
        let isRecorded: Bool
        /// Whether an older list went out later by the dates: a clock was wrong, and when this one went out is not known.
        var isDatedBack = false
        /// The time at which a newer list was out for sure.
        var until: Timestamp?

        /// Whether it may have gone out since a time.
        func isOut(since time: Timestamp) -> Bool { self.isDatedBack || self.last > time }
    }

    /// The lists that were the newest at any moment of the last `propagation`, the one in force when that time began
    /// included.
    ///
    /// - Parameters:
    ///   - project: The project: its `lists/`, and its `pins.json`; `nil` where nothing is remembered.
    ///   - published: The list that clients get now, where it comes from elsewhere.
    ///   - propagation: The time that installations may take, in seconds.
    ///   - time: Now.
    ///   - why: The reason for which adoption is not measured.
    /// - Throws: ``RepositoryError`` when something is there and cannot be read.
    public init(
        of project: ProjectFolder?, and published: PinList?, propagation: Int64, at time: Timestamp,
        notMeasured why: String
    ) throws(RepositoryError) {
        let history = try ListHistory(of: project)
        let start = Timestamp(
            secondsSince1970: time.secondsSince1970.subtractingReportingOverflow(propagation).partialValue)
        let others = try Self.others(project, published)
        var spans = try Self.spans(history, others)
        Self.close(&spans)
        // Where a list is out that is not recorded and not kept here, others publish: what is kept below it and not recorded may be
        // another list than theirs.
        let foreign = try published.flatMap { list throws(RepositoryError) -> Int64? in
            guard history.digests[list.version] == nil else { return nil }
            return try history.list(list.version)?.payload == list.payload ? nil : list.version
        }
        var held: [Held] = []
        var missing: [String] = []
        var before: Span?
        for span in spans {
            let version = span.version
            // A version between two that are known may have been out; the one before is then over at an unknown time.
            if let before, before.version + 1 < version, span.isOut(since: start) {
                missing.append(ListVersions.text(of: (before.version + 1)...(version - 1)))
            } else if before == nil, version > 1, span.isOut(since: start) {
                missing.append("what went out before version \(version)")
            }
            before = span
            guard span.until.map({ $0 > start }) ?? true else { continue }
            var list = span.list
            if list == nil { list = try history.publishedList(version) }
            if list == nil { list = published.flatMap { $0.version == version ? $0 : nil } }
            if let list { held.append(Held(list, until: span.until)) }
            if list == nil || !span.isRecorded && foreign.map({ version < $0 }) ?? false {
                missing.append("version \(version)")
            }
        }
        // One of them may be another list of a version that is kept.
        for other in others where !held.contains(where: { $0.list.payload == other.payload }) {
            guard let span = spans.first(where: { $0.version == other.version }) else { continue }
            if span.until.map({ $0 > start }) ?? true { held.append(Held(other, until: span.until)) }
        }
        self.init(
            .propagation(propagation, why: why), held, missing: missing,
            logs: NamedLogs(of: held.map(\.list), in: project))
    }

    /// Returns the lists of `pins.json` and a service: lists that are out, at an unknown time.
    private static func others(
        _ project: ProjectFolder?, _ published: PinList?
    ) throws(RepositoryError) -> [PinList] {
        var others: [PinList] = []
        if let bytes = try project?.newestList() {
            others.append(try KnownList(bytes, named: ProjectFolder.listName, roots: []).list)
        }
        if let published, !others.contains(where: { $0.payload == published.payload }) { others.append(published) }
        return others
    }

    private static func spans(_ history: ListHistory, _ others: [PinList]) throws(RepositoryError) -> [Span] {
        let records = Dictionary(grouping: history.records, by: \.version)
        let versions = history.keptVersions.union(records.keys).union(others.map(\.version))
        var spans: [Span] = []
        for version in versions.sorted() {
            let times = records[version]?.map(\.at) ?? []
            if let first = times.min(), let last = times.max() {
                spans.append(Span(version: version, first: first, last: last, isRecorded: true))
                continue
            }
            // The publication was not recorded. It cannot be earlier than the time of issue.
            var list = try history.list(version)
            if list == nil { list = others.first { $0.version == version } }
            guard let list else { continue }
            spans.append(
                Span(version: version, list: list, first: list.issuedAt, last: list.issuedAt, isRecorded: false))
        }
        return spans
    }

    /// Says of each when a newer one was out. Where a project has records, nothing but a record ends a list: one that was signed
    /// and never went out ends nothing. Nor does a record that is dated before that of an older list.
    private static func close(_ spans: inout [Span]) {
        let areRecorded = spans.contains(where: \.isRecorded)
        var latest: Timestamp?
        for index in spans.indices where spans[index].isRecorded == areRecorded {
            let last = spans[index].last
            spans[index].isDatedBack = latest.map { last < $0 } ?? false
            latest = latest.map { max($0, last) } ?? last
        }
        var end: Timestamp?
        for index in spans.indices.reversed() {
            let span = spans[index]
            // No list ends before it was out.
            spans[index].until = end.map { max($0, span.first) }
            if span.isRecorded == areRecorded, !span.isDatedBack { end = span.last }
        }
    }
}

extension HeldLists {
    /// The counts of a service.
    public struct Measurement: Hashable, Sendable {
        /// The period that is counted, in seconds.
        public let period: Int64
        /// The requests that named a list.
        public let requests: Int64
        /// The number of requests that named each version.
        public let versions: [Int64: Int64]

        /// States what was counted.
        public init(period: Int64, requests: Int64, versions: [Int64: Int64]) {
            self.period = period
            self.requests = requests
            self.versions = versions
        }
    }

    /// The lists that were counted: those that are recorded to have gone out, and the one that clients get now. Installations hold no
    /// others.
    ///
    /// - Parameters:
    ///   - project: The project: its `lists/`, and its `pins.json`; `nil` where nothing is remembered.
    ///   - published: The list that clients get now, where it comes from elsewhere.
    ///   - measurement: The counts.
    /// - Throws: ``RepositoryError`` when something is there and cannot be read.
    public init(
        of project: ProjectFolder?, and published: PinList?, measured measurement: Measurement
    ) throws(RepositoryError) {
        let history = try ListHistory(of: project)
        var held: [Held] = []
        var known: Int64 = 0
        for (version, count) in measurement.versions.sorted(by: { $0.key < $1.key }) where count > 0 {
            // Another checkout may have published another list of this version than the one that is here.
            let own = try history.publishedList(version)
            let served = published.flatMap { $0.version == version ? $0 : nil }
            guard let list = served ?? own, own.map({ $0.payload == list.payload }) ?? true else { continue }
            known += count
            held.append(Held(list, requests: count, of: measurement.requests))
        }
        self.init(
            .measured(requests: measurement.requests, period: measurement.period), held,
            unknownShare: Double(max(0, measurement.requests - known)) / Double(max(measurement.requests, 1)),
            logs: NamedLogs(of: held.map(\.list), in: project))
    }
}
