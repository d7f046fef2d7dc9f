// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The sentence of an alarm, its cause first. The page Now, the bodies of webhooks and `tumbler status` show this one,
/// so that a person who was called finds the same words everywhere:
///
///     A server presents a key that no list has: api.example.com, since 02:53 UTC, 60 networks
package enum AlarmSentence {
    /// The sentence.
    ///
    /// - Parameters:
    ///   - opening: What is wrong, in words that begin a sentence.
    ///   - subject: The host or the name of a list.
    ///   - facts: Figures and times, which end a sentence without a full stop; nothing where there are none.
    package static func text(_ opening: String, _ subject: String, _ facts: String) -> String {
        "\(opening): \(subject)\(facts.isEmpty ? "" : ", \(facts)")"
    }

    /// `since 02:53 UTC`, and the day where it is another one.
    package static func since(_ time: Timestamp, at now: Timestamp) -> String {
        let text = time.description
        let day = text.prefix(10) == now.description.prefix(10) ? "" : "\(text.prefix(10)) "
        return "since \(day)\(text.dropFirst(11).prefix(5)) UTC"
    }

    /// The cause that a sentence on failures opens with; `nil` for another sentence.
    package static func cause(of sentence: String) -> LikelyCause.Kind? {
        LikelyCause.Kind.allCases.first { sentence.hasPrefix($0.opening + ":") }
    }
}

extension Alarm.Kind {
    /// The problem, in words that begin a sentence. Of failures it is that of their cause, where one is known.
    package var opening: String {
        switch self {
        case .failureRate: LikelyCause.Kind.unclear.opening
        case .listExpiry: "The list is about to expire"
        case .rootExpiry: "The root is about to expire"
        case .certificateExpiry: "A server's certificate is about to expire"
        case .pinExpiry: "The pins are about to expire"
        case .probeFailed: "Apps refuse what the server presents"
        case .probeUnreached: "A probe did not reach the host"
        case .probeMissing: "Probes no longer come"
        case .rotationGate: "A rotation does not go on"
        case .earlySwitch: "A server presents the new key of a rotation too early"
        case .noRotationPlan: "A certificate ends, and no rotation is planned"
        case .revokedCertificate: "A server presents a certificate that its issuer revoked"
        case .unexpectedCertificate: "A certificate was logged whose key no list has"
        case .adoptionStalled: "The newest list no longer spreads"
        case .equivocation: "Signers signed a list that was never published here"
        case .unknownList: "A client was offered a list from before the first one published here"
        case .publishRefused: "A publication was refused"
        case .silence: "No requests or reports arrive any more"
        case .notVerified: "A stored list does not verify and is not served"
        case .storeFailed: "The database fails"
        case .test: "A test"
        }
    }
}

extension LikelyCause.Kind {
    /// The problem, in words that begin a sentence. No opening begins with another one.
    package var opening: String {
        switch self {
        case .rotation: "A server presents a key that no list has"
        case .interception: "Connections are intercepted"
        case .staleClients: "Apps hold an old list, and refuse the server"
        case .clock: "Devices with wrong clocks refuse the server"
        case .cleartext: "The app asks a pinned host without TLS"
        case .certificateTime: "A server presents a certificate outside of its validity"
        case .refusedList: "Apps refuse a list or a root that they are offered"
        case .unlogged: "A certificate was not shown to be logged as the list asks"
        case .unclear: "More connections fail than usual"
        }
    }
}

/// The cause of most failures of a host in the last hours: what an alarm of its rate is about.
package struct LeadingCause: Hashable, Sendable {
    /// The cause.
    package let kind: LikelyCause.Kind
    /// The time of the first report with this cause.
    package let since: Timestamp
    /// The maximum number of networks of a group on one day; `nil` where that was not measured.
    package let networks: BoundedCount?

    /// States it.
    package init(_ kind: LikelyCause.Kind, since: Timestamp, networks: BoundedCount?) {
        self.kind = kind
        self.since = since
        self.networks = networks
    }

    /// `since 02:53 UTC, 60 networks`.
    func facts(at now: Timestamp) -> String {
        let networks = self.networks.map { ", \($0) \($0 == BoundedCount(1) ? "network" : "networks")" }
        return AlarmSentence.since(self.since, at: now) + (networks ?? "")
    }
}
