// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The kind under which an hour counts a report: its kind, and a denied key as a kind of its own.
///
/// A denied key is reported by every installation, without regard to the list's `reportPerMillion` (formats.md, section
/// 3.2): what is counted of it is never multiplied.
package enum CountedKind {
    /// A denied key: a pin failure that every installation reports.
    package static let deniedKey = "denied-key"

    /// The kind under which a report is counted.
    package static func of(_ report: CollectedReport) -> String {
        report.kind == .pin && report.reason == self.deniedKey ? self.deniedKey : report.kind.rawValue
    }

    /// Whether what is counted is a pin failure.
    package static func isPinFailure(_ kind: String) -> Bool {
        kind == CollectedReport.Kind.pin.rawValue || kind == self.deniedKey
    }
}
