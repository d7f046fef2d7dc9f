// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The templates. They are files in this folder, and part of the program: an installed binary needs no other file.
enum DashboardTemplate: String, CaseIterable, Sendable {
    /// The frame around each page.
    case frame
    /// ``NowPage``.
    case now
    /// ``FailuresPage``.
    case failures
    /// ``FailureGroupPage``.
    case failure
    /// ``HostsPage``.
    case hosts
    /// ``CertificatesPage``.
    case certificates
    /// ``RotationsPage``.
    case rotations
    /// ``AdoptionPage``.
    case adoption
    /// ``ListsPage``.
    case lists
    /// ``AlarmsPage``.
    case alarms
    /// ``RunbookPage``.
    case runbook
    /// ``AuditPage``.
    case audit
    /// ``LoginPage``.
    case login
    /// ``ErrorPage``.
    case error

    /// The template, with its values written as they are: ``Markup`` has escaped them.
    ///
    /// The engine's own escaping is switched off, because it would escape a second time, and because it misses a
    /// quotation mark that carries an accent.
    var text: String { "{{% CONTENT_TYPE: TEXT}}" + String(decoding: self.bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        switch self {
        case .frame: PackageResources.frame_mustache
        case .now: PackageResources.now_mustache
        case .failures: PackageResources.failures_mustache
        case .failure: PackageResources.failure_mustache
        case .hosts: PackageResources.hosts_mustache
        case .certificates: PackageResources.certificates_mustache
        case .rotations: PackageResources.rotations_mustache
        case .adoption: PackageResources.adoption_mustache
        case .lists: PackageResources.lists_mustache
        case .alarms: PackageResources.alarms_mustache
        case .runbook: PackageResources.runbook_mustache
        case .audit: PackageResources.audit_mustache
        case .login: PackageResources.login_mustache
        case .error: PackageResources.error_mustache
        }
    }
}
