// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// A report that is to be stored: an object, because it is handed on many times and its texts are many.
package final class AcceptedReport: Sendable {
    /// The content of the report.
    package let report: CollectedReport
    /// The group of the report.
    package let group: ReportGroup
    /// The time at which it came.
    package let receivedAt: Timestamp
    /// The number of networks from which its group was reported today, this one included; `nil` where that is not
    /// counted.
    package let networks: NetworkCounter.Count?
    /// The number of networks from which its leaf's key was named today, where a monitor saw that key in a log and apps refuse
    /// it; else `nil`.
    package let sightedNetworks: NetworkCounter.Count?
    /// Whether it is a sample of many that were over a limit.
    package let isSample: Bool
    /// Whether its noted host is a domain of a published list, or its list is published. Of anything else, which strangers
    /// can make up without end, little is kept.
    package let isListed: Bool
    /// The name of the list that it names, where that is published here: what bounds hosts of no list (``CountedHosts``).
    package let publishedName: String?
    /// The attestation of the sender.
    package let attestation: ReportAttestation
    /// Says whether its document may be kept, where it is one of the first of its group: of one source only so much is
    /// (``SourceLimiter/keeps(_:of:at:)``).
    package let mayBeKept: @Sendable () -> Bool
    private let document: @Sendable () -> [UInt8]

    /// The kept part as JSON, for the first of its group: no unknown member. Written when it is asked for: of most
    /// reports it is not kept.
    package var body: [UInt8] { self.document() }

    /// The memory that it takes while it waits, in bytes, about.
    package var weight: Int {
        let certificates = self.report.servedChain + self.report.validatedChain
        return certificates.reduce(
            Self.minimumWeight + self.report.textBytes + (self.report.envelope?.count ?? 0)
        ) { $0 + $1.count }
    }

    /// What stands around the texts and the certificates of a report.
    private static let minimumWeight = 1_024

    /// States a report.
    package init(
        report: CollectedReport, group: ReportGroup, receivedAt: Timestamp, networks: NetworkCounter.Count?,
        sightedNetworks: NetworkCounter.Count? = nil, isSample: Bool, isListed: Bool, publishedName: String? = nil,
        attestation: ReportAttestation = .notAsked, mayBeKept: @escaping @Sendable () -> Bool = { true },
        body: @autoclosure @escaping @Sendable () -> [UInt8]
    ) {
        self.report = report
        self.group = group
        self.receivedAt = receivedAt
        self.networks = networks
        self.sightedNetworks = sightedNetworks
        self.isSample = isSample
        self.isListed = isListed
        self.publishedName = publishedName
        self.attestation = attestation
        self.mayBeKept = mayBeKept
        self.document = body
    }

    /// The same report, which counts as unattested: its assertion was used before.
    package func unattested(_ step: Int) -> AcceptedReport {
        AcceptedReport(
            report: self.report, group: ReportGroup(self.report, .unattested), receivedAt: self.receivedAt,
            networks: nil, sightedNetworks: self.sightedNetworks, isSample: self.isSample, isListed: self.isListed,
            publishedName: self.publishedName,
            attestation: ReportAttestation(.unattested, of: self.attestation.name, step: step),
            mayBeKept: self.mayBeKept, body: self.document())
    }
}
