// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings

/// A certificate that a monitor found in a log, as it is kept for a list.
struct StoredSighting: Hashable, Sendable {
    /// The list.
    let name: String
    /// ``SightedCertificate/identity``.
    let identity: String
    /// What it means by the list that was served when it was judged last; ``state`` is what pages say.
    var judged: SightingState
    /// The domain of the entry that decided.
    var host: String
    /// Whether that entry enforces.
    var isEnforced: Bool
    /// The digest of the list that it was judged by.
    var list: String
    /// The pin of its key.
    let key: String
    /// When its key was first seen served by a probe; `nil` when none saw it.
    var servedAt: Timestamp?
    /// When it is valid.
    let notBefore, notAfter: Timestamp
    /// Whether the precertificate alone was found.
    var isPrecertificate: Bool
    /// The log, as the monitor names it; empty where it did not.
    var log: String
    /// When the log took it, as the monitor says; `nil` where it did not.
    var loggedAt: Timestamp?
    /// When it was told here first.
    let firstAt: Timestamp
    /// The id of the token that told it.
    let toldBy: String
    /// What a person said to its alarm.
    var acknowledgement: Acknowledgement?
    /// The serial number, lower-case hex.
    let serialNumber: String
    /// The issuer's name.
    let issuer: String
    /// The pins of the keys that signed, as far as signatures hold.
    var issuers: [String]
    /// The names that it is for.
    let names: [String]

    /// That a person has seen its alarm.
    struct Acknowledgement: Hashable, Sendable {
        /// When.
        let at: Timestamp
        /// The id of the token.
        let by: String
        /// How urgent the alarm was.
        let severity: String
    }

    /// What it means.
    var state: SightingState {
        self.judged == .pinned && self.servedAt == nil ? .backup : self.judged
    }

    /// When it was logged, or, where the monitor did not say, told here.
    var since: Timestamp { self.loggedAt ?? self.firstAt }

    /// For how long it is kept after its end, in seconds: 30 days.
    static let keptAfterEnd: Int64 = 30 * 86_400
    /// For how long it is kept at most, in seconds: two years.
    static let kept: Int64 = 730 * 86_400

    /// The columns of its table, the certificate last.
    static let columns = [
        "name", "digest", "state", "host", "is_enforced", "judged", "key", "served_at", "not_before", "not_after",
        "is_precertificate", "log", "logged_at", "first_at", "told_by", "acknowledged_at", "acknowledged_by",
        "acknowledged_as", "serial", "issuer", "issuers", "names", "certificate",
    ]

    /// The columns that are read, all but the certificate.
    static let shown = Self.columns.dropLast().joined(separator: ", ")

    /// The values of its columns, but for the certificate.
    var values: [SQLValue] {
        [
            .text(self.name), .text(self.identity), .text(self.judged.rawValue), .text(self.host),
            .integer(self.isEnforced ? 1 : 0), .text(self.list), .text(self.key),
            .optional(self.servedAt?.secondsSince1970), .integer(self.notBefore.secondsSince1970),
            .integer(self.notAfter.secondsSince1970), .integer(self.isPrecertificate ? 1 : 0), .text(self.log),
            .optional(self.loggedAt?.secondsSince1970), .integer(self.firstAt.secondsSince1970), .text(self.toldBy),
            .optional(self.acknowledgement?.at.secondsSince1970), .optional(self.acknowledgement?.by),
            .optional(self.acknowledgement?.severity), .text(self.serialNumber), .text(self.issuer),
            .text(self.issuers.joined(separator: " ")), .text(self.names.joined(separator: "\n")),
        ]
    }

    /// Reads a row of ``shown``.
    init(_ row: SQLRow) throws {
        func time(_ column: Int) throws -> Timestamp? {
            try row.optionalInteger(column).map { Timestamp(secondsSince1970: $0) }
        }
        func list(_ column: Int, _ separator: Character) throws -> [String] {
            try row.text(column).split(separator: separator).map(String.init)
        }
        self.name = try row.text(0)
        self.identity = try row.text(1)
        // One that a later version knows is none that is well.
        self.judged = SightingState(rawValue: try row.text(2)) ?? .unknown
        self.host = try row.text(3)
        self.isEnforced = try row.integer(4) != 0
        self.list = try row.text(5)
        self.key = try row.text(6)
        self.servedAt = try time(7)
        self.notBefore = Timestamp(secondsSince1970: try row.integer(8))
        self.notAfter = Timestamp(secondsSince1970: try row.integer(9))
        self.isPrecertificate = try row.integer(10) != 0
        self.log = try row.text(11)
        self.loggedAt = try time(12)
        self.firstAt = Timestamp(secondsSince1970: try row.integer(13))
        self.toldBy = try row.text(14)
        let (by, severity) = (try row.optionalText(16), try row.optionalText(17))
        self.acknowledgement = try time(15).map { Acknowledgement(at: $0, by: by ?? "", severity: severity ?? "") }
        self.serialNumber = try row.text(18)
        self.issuer = try row.text(19)
        self.issuers = try list(20, " ")
        self.names = try list(21, "\n")
    }

    /// A certificate that was just told.
    init(
        _ certificate: SightedCertificate, issuers: [Pin], log: String, loggedAt: Timestamp?, of name: String,
        by actor: String, at now: Timestamp
    ) {
        self.name = name
        self.identity = certificate.identity
        (self.judged, self.host, self.isEnforced, self.list) = (.unknown, "", false, "")
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

    /// Judges it by a list that is served.
    mutating func judge(by rules: SightingRules, of list: String, at now: Timestamp) {
        guard let key = try? Pin(self.key) else { return }
        let judgement = rules.judge(
            names: self.names, key: key, issuers: self.issuers.compactMap { try? Pin($0) }, isServed: true, at: now)
        (self.judged, self.host, self.isEnforced) = (
            judgement.state, judgement.entry?.description ?? "", judgement.isEnforced
        )
        self.list = list
    }
}
