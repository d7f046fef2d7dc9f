// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinReportAnalysis

/// The error that some of the reports to be added cannot be stored at this moment: another transaction makes or removes what
/// they need. Nothing was changed, and nothing waited: the others can be stored at once, these a moment later
/// (docs/decisions/0082).
///
/// Where there is one writer it is never thrown.
package struct ReportsMustWait: Error {
    /// The places of these reports among those that were to be added.
    package let places: Set<Int>

    /// States where they stand; at least one does.
    package init(at places: Set<Int>) { self.places = places }

    /// Finds those that have to wait.
    ///
    /// - Parameter isWaiting: Says whether a report has to.
    init(among reports: [AcceptedReport], where isWaiting: (AcceptedReport) -> Bool) {
        self.init(at: Set(reports.indices.filter { isWaiting(reports[$0]) }))
    }
}
