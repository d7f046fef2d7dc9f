// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

extension StoreTransaction {
    /// Reports after a number, as ``ReportExport/columns``.
    package func exportRows(after number: Int64, since: Timestamp, until: Timestamp, limit: Int) throws -> [[SQLValue]]
    {
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
