// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import PinReportAnalysis

extension StoredSighting {
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
            .text(self.name), .text(self.identity), .text(self.evaluated.rawValue), .text(self.host),
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
        let (by, severity) = (try row.optionalText(16), try row.optionalText(17))
        self.init(
            name: try row.text(0), identity: try row.text(1),
            // One that a later version knows is none that is well.
            evaluated: SightingState(rawValue: try row.text(2)) ?? .unknown, host: try row.text(3),
            isEnforced: try row.integer(4) != 0, list: try row.text(5), key: try row.text(6), servedAt: try time(7),
            notBefore: Timestamp(secondsSince1970: try row.integer(8)),
            notAfter: Timestamp(secondsSince1970: try row.integer(9)), isPrecertificate: try row.integer(10) != 0,
            log: try row.text(11), loggedAt: try time(12),
            firstAt: Timestamp(secondsSince1970: try row.integer(13)), toldBy: try row.text(14),
            acknowledgement: try time(15).map { Acknowledgement(at: $0, by: by ?? "", severity: severity ?? "") },
            serialNumber: try row.text(18), issuer: try row.text(19), issuers: try list(20, " "),
            names: try list(21, "\n"))
    }
}
