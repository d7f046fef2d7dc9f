// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// The attested reports of a list that asks for attestations, and what its unattested ones are worth.
struct AttestedReports: Hashable, Sendable {
    /// What unattested reports are worth for alarms, and why.
    enum Unattested: Hashable, Sendable {
        /// Alone they raise a warning.
        case warn
        /// They count like attested ones: no report came in 30 days.
        case countWithoutReports
        /// They count like attested ones: under half of 30 days' reports were attested.
        case countForTheirShare
        /// They count like attested ones: fewer attested reports come than half of the usual.
        case countWhileOthersAreMissing

        /// A sentence without a full stop.
        var words: String {
            switch self {
            case .warn: "warn, and raise no critical alarm by themselves"
            case .countWithoutReports: "count like attested ones: there was no report to tell by"
            case .countForTheirShare: "count like attested ones: under half of the reports were attested"
            case .countWhileOthersAreMissing:
                "count like attested ones: fewer attested reports come than half of the usual"
            }
        }
    }

    /// The name of the list.
    var name: String
    /// Attested reports of 30 days.
    var attested: Int64
    /// All reports of 30 days.
    var all: Int64
    /// The share of attested ones, 0 to 1; `nil` without reports.
    var share: Double?
    /// Registered keys.
    var keys: Int64
    /// What unattested reports are worth.
    var unattested: Unattested

    /// The view of the list for the template.
    var view: View {
        View([
            "name": .markup(VisibleText.line(self.name, limit: 64)),
            "share": .markup(self.share.map { "\(NumberText.percent($0))" } ?? "no report"),
            "counts": self.share == nil
                ? "in 30 days"
                : "\(Self.count(self.attested)) of \(Self.count(self.all)) reports in 30 days",
            "keys": .markup("\(Self.count(self.keys))"), "unattested": .markup("\(self.unattested.words)"),
        ])
    }

    private static func count(_ number: Int64) -> String { NumberText.count(Int(clamping: number)) }
}

extension AttestedReports {
    /// Those of a list, by the rate that alarms go by.
    init(of name: String, _ rate: AttestationRate) {
        let (all, isOver) = rate.attested.addingReportingOverflow(rate.unattested)
        self.init(
            name: name, attested: rate.attested, all: isOver ? .max : all, share: rate.share, keys: rate.keys,
            unattested: Self.worth(rate))
    }

    private static func worth(_ rate: AttestationRate) -> Unattested {
        guard rate.countsUnattested else { return .warn }
        guard let share = rate.share else { return .countWithoutReports }
        return share < AttestationRate.enough ? .countForTheirShare : .countWhileOthersAreMissing
    }
}
