// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import CertificateSightings

/// A certificate that a monitor found in a log, as it is kept for a list.
package struct StoredSighting: Hashable, Sendable {
    /// The list.
    package let name: String
    /// ``SightedCertificate/identity``.
    package let identity: String
    /// The state by the list that was served when it was evaluated last; ``state`` is what pages show.
    package var evaluated: SightingState
    /// The domain of the entry that decided.
    package var host: String
    /// Whether that entry enforces.
    package var isEnforced: Bool
    /// The edition of the list that it was evaluated by (``SightingRules/edition(of:_:at:)``).
    package var list: String
    /// The pin of its key.
    package let key: String
    /// The time at which its key was first seen served by a probe; `nil` when none saw it.
    package var servedAt: Timestamp?
    /// The validity of the certificate.
    package let notBefore, notAfter: Timestamp
    /// Whether the precertificate alone was found.
    package var isPrecertificate: Bool
    /// The log, as the monitor names it; empty where it did not.
    package var log: String
    /// The time at which the log took it, as the monitor says; `nil` where it did not.
    package var loggedAt: Timestamp?
    /// The time at which it was first handed in.
    package let firstAt: Timestamp
    /// The id of the token that told it.
    package let toldBy: String
    /// The acknowledgement of its alarm.
    package var acknowledgement: Acknowledgement?
    /// The serial number, lower-case hex.
    package let serialNumber: String
    /// The issuer's name.
    package let issuer: String
    /// The pins of the keys that signed, as far as signatures hold.
    package var issuers: [String]
    /// The names that it is for.
    package let names: [String]

    /// An acknowledgement: a person has seen its alarm.
    package struct Acknowledgement: Hashable, Sendable {
        /// The time of the acknowledgement.
        package let at: Timestamp
        /// The id of the token.
        package let by: String
        /// The severity of the alarm.
        package let severity: String

        /// States it.
        package init(at: Timestamp, by: String, severity: String) {
            (self.at, self.by, self.severity) = (at, by, severity)
        }
    }

    /// The state of the sighting.
    package var state: SightingState {
        self.evaluated == .pinned && self.servedAt == nil ? .backup : self.evaluated
    }

    /// The time at which it was logged, or, where the monitor did not say, handed in here.
    package var since: Timestamp { self.loggedAt ?? self.firstAt }

    /// The time for which it is kept after its end, in seconds: 30 days.
    package static let keptAfterEnd: Int64 = 30 * 86_400
    /// The maximum time for which it is kept, in seconds: two years.
    package static let kept: Int64 = 730 * 86_400

    /// States what is kept.
    package init(
        name: String, identity: String, evaluated: SightingState, host: String, isEnforced: Bool, list: String,
        key: String, servedAt: Timestamp?, notBefore: Timestamp, notAfter: Timestamp, isPrecertificate: Bool,
        log: String, loggedAt: Timestamp?, firstAt: Timestamp, toldBy: String, acknowledgement: Acknowledgement?,
        serialNumber: String, issuer: String, issuers: [String], names: [String]
    ) {
        (self.name, self.identity, self.evaluated, self.host) = (name, identity, evaluated, host)
        (self.isEnforced, self.list, self.key, self.servedAt) = (isEnforced, list, key, servedAt)
        (self.notBefore, self.notAfter, self.isPrecertificate) = (notBefore, notAfter, isPrecertificate)
        (self.log, self.loggedAt, self.firstAt, self.toldBy) = (log, loggedAt, firstAt, toldBy)
        (self.acknowledgement, self.serialNumber, self.issuer) = (acknowledgement, serialNumber, issuer)
        (self.issuers, self.names) = (issuers, names)
    }

    /// A certificate that was just told.
    package init(
        _ certificate: SightedCertificate, issuers: [Pin], log: String, loggedAt: Timestamp?, of name: String,
        by actor: String, at now: Timestamp
    ) {
        self.name = name
        self.identity = certificate.identity
        (self.evaluated, self.host, self.isEnforced, self.list) = (.unknown, "", false, "")
        self.key = certificate.key.description
        (self.notBefore, self.notAfter) = (certificate.notBefore, certificate.notAfter)
        self.isPrecertificate = certificate.isPrecertificate
        (self.log, self.loggedAt) = (log, loggedAt)
        (self.firstAt, self.toldBy) = (now, actor)
        self.serialNumber = certificate.serialNumber
        self.issuer = certificate.issuer
        self.issuers = issuers.map(\.description)
        self.names = certificate.names
    }

    /// Evaluates it by a list that is served.
    ///
    /// - Parameters:
    ///   - rules: Those of the list.
    ///   - list: Its edition.
    ///   - now: The time.
    package mutating func evaluate(by rules: SightingRules, of list: String, at now: Timestamp) {
        guard let key = try? Pin(self.key) else { return }
        let evaluation = rules.evaluate(
            names: self.names, key: key, issuers: self.issuers.compactMap { try? Pin($0) }, isServed: true, at: now)
        (self.evaluated, self.host, self.isEnforced) = (
            evaluation.state, evaluation.entry?.description ?? "", evaluation.isEnforced
        )
        self.list = list
    }
}
