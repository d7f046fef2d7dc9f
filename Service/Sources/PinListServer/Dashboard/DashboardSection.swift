// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The pages of the navigation, in its order.
enum DashboardSection: String, CaseIterable, Sendable {
    /// Whether all is well.
    case now
    /// What failed, in groups.
    case failures
    /// What each host pins and serves.
    case hosts
    /// What logs have of each host.
    case certificates
    /// Which keys are being replaced.
    case rotations
    /// How far the newest list has spread.
    case adoption
    /// What was published.
    case lists
    /// What the service warns of.
    case alarms
    /// Who changed what.
    case audit

    /// Where it is.
    var path: String { self == .now ? "/" : "/" + self.rawValue }

    /// What it is called.
    var label: String {
        switch self {
        case .now: "Now"
        case .failures: "Failures"
        case .hosts: "Hosts"
        case .certificates: "Certificates"
        case .rotations: "Rotations"
        case .adoption: "Adoption"
        case .lists: "Lists"
        case .alarms: "Alarms"
        case .audit: "Audit log"
        }
    }
}
