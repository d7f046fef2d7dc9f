// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Reports for other programs, one a line.
enum ReportExport: String, CaseIterable, Sendable {
    /// JSON Lines, with the names that reports have (formats.md, section 5).
    case jsonl
    /// Comma-separated values (RFC 4180), with the same names in the first line.
    case csv

    /// How many are read at a time.
    static let page = 1_000

    /// The columns, as they are called and in their order.
    static let columns = [
        "number", "received-at", "date-time", "kind", "reason", "hostname", "port", "noted-hostname", "app-bundle-id",
        "app-version", "app-platform", "list-name", "list-version", "leaf-pin", "issuer", "issuer-pin", "signals",
        "sampled", "attestation", "attestation-step",
    ]

    /// The media type.
    var contentType: String { self == .csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl" }

    /// What stands before the first line.
    var header: [UInt8] { self == .csv ? Array((Self.columns.joined(separator: ",") + "\r\n").utf8) : [] }

    /// One line.
    func line(_ row: [SQLValue]) -> [UInt8] {
        switch self {
        case .jsonl:
            let members = zip(Self.columns, row).map { name, value in
                let json: JSONValue =
                    switch value {
                    case .integer(let number): .integer(number)
                    case .text(let text): .string(text)
                    default: .null
                    }
                return JSONValue.Member(name, json)
            }
            return JSONValue.object(members).bytes + [UInt8(ascii: "\n")]
        case .csv:
            let fields = row.map { value in
                switch value {
                case .integer(let number): "\(number)"
                case .text(let text): Self.quoted(text)
                default: ""
                }
            }
            return Array((fields.joined(separator: ",") + "\r\n").utf8)
        }
    }

    /// A field in quotation marks. What a table program would take for a formula begins with an apostrophe: the texts
    /// are what strangers sent.
    private static func quoted(_ text: String) -> String {
        let first = text.unicodeScalars.first
        let isFormula = first.map { "=+-@\t\r".unicodeScalars.contains($0) } == true
        var escaped = "\"" + (isFormula ? "'" : "")
        for scalar in text.unicodeScalars {
            if scalar == "\"" { escaped += "\"" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped + "\""
    }
}

extension StoreTransaction {
    /// Reports after a number, as ``ReportExport/columns``.
    func exportRows(after number: Int64, since: Timestamp, until: Timestamp, limit: Int) throws -> [[SQLValue]] {
        try self.connection.rows(
            """
            SELECT report.number, report.received_at, report.claimed_at, report_group.kind, report_group.reason,
                report.host, report.port, report_group.host, report_group.app, report_group.app_version,
                report.platform, report_group.list_name, report_group.list_version, report.leaf_pin,
                report_group.issuer, report_group.issuer_pin, report.signals, report.sampled,
                report.attestation, report.attestation_step
            FROM report JOIN report_group ON report_group.number = report.group_number
            WHERE report.number > ? AND report.received_at >= ? AND report.received_at < ?
            ORDER BY report.number LIMIT ?
            """,
            [
                .integer(number), .integer(since.secondsSince1970), .integer(until.secondsSince1970),
                .integer(Int64(limit)),
            ]
        ).map { row in
            var values = row.values
            for place in [1, 2] where values.indices.contains(place) {
                guard case .integer(let seconds) = values[place] else { continue }
                values[place] = .text(Timestamp(secondsSince1970: seconds).description)
            }
            return values
        }
    }
}
