// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A report that is to be stored.
struct AcceptedReport: Sendable {
    /// What it says.
    let report: CollectedReport
    /// What failed.
    let group: ReportGroup
    /// When it came.
    let receivedAt: Timestamp
    /// From how many networks its group was reported today, this one included; `nil` where that is not counted.
    let networks: NetworkCounter.Count?
    /// Whether it stands for many that were over a limit.
    let isSample: Bool
    /// Whether its noted host is a domain of a published list, or its list is published. Of anything else, which strangers
    /// can make up without end, little is kept.
    let isListed: Bool
    /// The name of the list that it names, where that is published here: what bounds hosts of no list (``CountedHosts``).
    var publishedName: String? = nil
    /// What is kept of it as JSON, for the first of its group: no member that nobody knows.
    let body: [UInt8]
}
