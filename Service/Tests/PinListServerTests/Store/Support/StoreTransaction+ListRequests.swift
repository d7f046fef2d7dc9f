// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

extension StoreTransaction {
    /// The stored counts of a name, hour by hour.
    func listRequests(of name: String, since hour: Int64) throws -> [ListRequestKey: Int64] {
        var counts: [ListRequestKey: Int64] = [:]
        for row in try self.connection.rows(
            "SELECT hour, source, digest, count FROM inquiry WHERE name = ? AND hour >= ?",
            [.text(name), .integer(hour)])
        {
            guard let source = ListRequestKey.Source(rawValue: try row.text(1)) else { continue }
            let key = ListRequestKey(name: name, hour: try row.integer(0), source: source, digest: try row.text(2))
            counts[key] = try row.integer(3)
        }
        return counts
    }
}
