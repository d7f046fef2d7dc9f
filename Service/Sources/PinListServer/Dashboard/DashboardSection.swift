// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The pages of the navigation, in its order.
enum DashboardSection: String, CaseIterable, Sendable {
    /// Whether all is well.
    case now
    /// The failures, in groups.
    case failures
    /// The pins of each host, and the certificates that it serves.
    case hosts
    /// The certificates that logs have of each host.
    case certificates
    /// The keys that are being replaced.
    case rotations
    /// The spread of the newest list.
    case adoption
    /// The published lists.
    case lists
    /// The alarms of the service.
    case alarms
    /// The audit log of changes.
    case audit

    /// The path of the section.
    var path: String { self == .now ? "/" : "/" + self.rawValue }

    /// The label of the section.
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
