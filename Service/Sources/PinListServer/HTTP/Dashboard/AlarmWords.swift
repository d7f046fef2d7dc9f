// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// The titles of alarms, and what to do about them.
enum AlarmWords {
    /// A short sentence.
    static func title(_ kind: Alarm.Kind?, subject: String) -> String {
        switch kind {
        case .failureRate: "Failures of \(subject) are above usual"
        case .listExpiry: "The list of \(subject) is about to expire"
        case .rootExpiry: "The root of \(subject) is about to expire"
        case .certificateExpiry: "A certificate of \(subject) is about to expire"
        case .pinExpiry: "The pins of \(subject) are about to expire"
        case .probeFailed: "\(subject) serves what apps refuse"
        case .probeUnreached: "The last probe did not reach \(subject)"
        case .rotationGate: "The rotation of \(subject) does not go on"
        case .earlySwitch: "\(subject) presents a new key too early"
        case .noRotationPlan: "No rotation of \(subject) is planned, and its certificate ends"
        case .revokedCertificate: "\(subject) serves a certificate that its issuer revoked"
        case .unexpectedCertificate: "A certificate for \(subject) was logged that apps refuse"
        case .adoptionStalled: "The newest list of \(subject) no longer spreads"
        case .equivocation: "Signers of \(subject) signed a list that was never published here"
        case .unknownList: "A list of \(subject) from before the service's first was offered to a client"
        case .publishRefused: "A publication of \(subject) was refused"
        case .silence: "No requests or reports of \(subject) come any more"
        case .notVerified: "The stored list of \(subject) does not verify"
        case .test: "A test"
        case nil: "An alarm of a later version"
        }
    }

    /// The advice, in a sentence or two.
    static func advice(_ kind: Alarm.Kind?) -> String {
        switch kind {
        case .failureRate:
            "Look at the groups of failures: one new leaf from a public CA is a rotation, many from one issuer are an "
                + "interception. Where people are locked out, tumbler suspend gives hours."
        case .listExpiry: "tumbler release makes, signs and publishes the next one."
        case .rootExpiry: "Bring the root's signers together: tumbler root rotate, sign, publish."
        case .certificateExpiry:
            "Renew it with a key that the list names, or release a list that names the new key first."
        case .pinExpiry: "Release a list with a later expiresAt, or without one: after it the domain is not pinned."
        case .probeFailed: "Serve a key that the list names, or release a list that names the one that is served."
        case .probeUnreached:
            "Look whether the host or the network of the probe is down. What an earlier probe found of it still counts."
        case .rotationGate:
            "tumbler rotate status says what is missing. Do not deploy the new key before the plan is ready."
        case .earlySwitch:
            "Put the old key back on that server, or look with tumbler gate how many refuse the new one. Installations "
                + "that do not have the new pin yet are locked out."
        case .noRotationPlan:
            "When the renewal brings a new key: tumbler rotate plan, now. When it keeps the key, renew it and probe "
                + "again."
        case .revokedCertificate:
            "Serve a certificate with another key. Then tumbler revocations --write and tumbler release: installations refuse "
                + "the revoked one, even with its key."
        case .unexpectedCertificate:
            "Ask who ordered it. If it is yours, release a list with its key before it is deployed; if it is not, have its "
                + "issuer revoke it, and check who else controls the name. Acknowledging it ends this alarm."
        case .adoptionStalled:
            "Some installations do not refresh: look at app versions in failures. Do not remove the old key by this figure."
        case .equivocation:
            "Treat the pins keys as stolen until you know the signer: see the runbook for a stolen pins key."
        case .unknownList:
            "Check whether you published that version before this service did. If not, treat the pins keys as stolen."
        case .publishRefused: "See the audit log for the token and the reason; revoke the token if it is not yours."
        case .silence: "Check whether the service is reached: an interceptor, a firewall or an expired certificate."
        case .notVerified: "Compare the database with a backup, and the configured root with the one that apps ship."
        case .test, nil: "Nothing."
        }
    }

    /// A page that shows more.
    static func path(_ kind: Alarm.Kind?) -> String? {
        switch kind {
        case .failureRate: DashboardSection.failures.path
        case .certificateExpiry, .pinExpiry, .probeFailed, .probeUnreached, .noRotationPlan, .revokedCertificate:
            DashboardSection.hosts.path
        case .unexpectedCertificate: DashboardSection.certificates.path
        case .adoptionStalled: DashboardSection.adoption.path
        case .rotationGate, .earlySwitch: DashboardSection.rotations.path
        case .listExpiry, .rootExpiry: DashboardSection.lists.path
        case .publishRefused, .equivocation, .unknownList: DashboardSection.audit.path
        default: nil
        }
    }
}
