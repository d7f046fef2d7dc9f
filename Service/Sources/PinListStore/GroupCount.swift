// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// The changes of a batch of reports to the counts of one group.
struct GroupCount {
    private let group: KnownGroup
    private var count: Int64 = 0
    private var bodies: Int64 = 0
    private var bodiesAt: Int64 = 0
    private var seen: ClosedRange<Int64>?
    private var networks: NetworkCounter.Count?
    /// Reports by the hour.
    private(set) var hours: [Int64: Int64] = [:]
    /// Leaves by their pins.
    private(set) var leaves: [String: ReadableCertificate] = [:]

    /// Makes an empty count of a group.
    init(_ group: KnownGroup) { self.group = group }

    /// Counts a report.
    ///
    /// - Returns: Whether its body is one of those that are kept.
    mutating func add(_ report: AcceptedReport) -> Bool {
        let time = report.receivedAt.secondsSince1970
        self.count += 1
        self.seen = min(self.seen?.lowerBound ?? time, time)...max(self.seen?.upperBound ?? time, time)
        self.hours[report.receivedAt.hour, default: 0] += 1
        if let networks = report.networks, networks.networks.number > (self.networks?.networks.number ?? -1) {
            self.networks = networks
        }
        // One more than are told apart: a group with more is not asked which.
        if let leaf = report.report.leaf, self.leaves.count <= DistinctLeaves.maximum {
            self.leaves[leaf.pin.description] = leaf
        }
        guard self.group.bodies + self.bodies < StoreTransaction.bodiesOfGroup, report.mayBeKept() else { return false }
        self.bodies += 1
        self.bodiesAt = max(self.bodiesAt, time)
        return true
    }

    /// The row of `group_count`.
    func row(_ instance: String) -> [SQLValue] {
        [
            .integer(self.group.number), .text(instance), .integer(self.count), .integer(self.bodies),
            .integer(self.bodiesAt), .integer(self.seen?.lowerBound ?? 0), .integer(self.seen?.upperBound ?? 0),
        ]
    }

    /// The row of `group_network`; `nil` where networks were not counted.
    func networkRow(_ instance: String) -> [SQLValue]? {
        self.networks.map { networks in
            [
                .integer(self.group.number), .integer(networks.day), .text(instance),
                .integer(Int64(networks.networks.number)), .integer(networks.networks.isMore ? 1 : 0),
            ]
        }
    }
}
