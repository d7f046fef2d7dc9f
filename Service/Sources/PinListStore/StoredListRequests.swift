// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata
package import PinReportAnalysis

extension StoreTransaction {
    /// Rows of what an instance counted of what clients hold.
    static let listRequests = SQLInsertion(
        into: "inquiry", ["name", "hour", "source", "digest", "count", "instance"],
        "ON CONFLICT (name, hour, source, digest, instance) DO UPDATE SET count = inquiry.count + excluded.count")

    /// Adds to the numbers of what clients said that they hold.
    ///
    /// - Parameter instance: The instance that counted: each instance adds to rows of its own, so that none waits for
    ///   another. Empty for what no instance counted.
    package func add(_ counts: [ListRequestKey: Int64], countedBy instance: String = "") throws {
        let sorted = counts.sorted {
            ($0.key.name, $0.key.hour, $0.key.digest) < ($1.key.name, $1.key.hour, $1.key.digest)
        }
        try self.connection.insert(
            sorted.map { key, count in
                [
                    .text(key.name), .integer(key.hour), .text(key.source.rawValue), .text(key.digest),
                    .integer(count), .text(instance),
                ]
            }, Self.listRequests)
    }

    /// The lists that clients said that they hold, in windows of equal length, the oldest first. The database adds up
    /// the hours of a window: there are a thousand times as many.
    ///
    /// - Parameters:
    ///   - count: The number of windows.
    ///   - hours: The length of one.
    ///   - hour: The last hour of the last one.
    /// - Returns: The numbers of each; the hour of a key is the last one of the window in which it was said.
    package func listRequests(
        of name: String, windows count: Int64, of hours: Int64, until hour: Int64
    ) throws -> [[ListRequestKey: Int64]] {
        var windows = Array(repeating: [ListRequestKey: Int64](), count: Int(count))
        for row in try self.connection.rows(
            """
            SELECT (? - hour) / ? AS age, source, digest, SUM(count), MAX(hour) FROM inquiry
            WHERE name = ? AND hour > ? AND hour <= ? GROUP BY 1, 2, 3
            """,
            [.integer(hour), .integer(hours), .text(name), .integer(hour - count * hours), .integer(hour)])
        {
            let index = count - 1 - (try row.integer(0))
            guard let source = ListRequestKey.Source(rawValue: try row.text(1)), windows.indices.contains(Int(index))
            else {
                continue
            }
            let key = ListRequestKey(name: name, hour: try row.integer(4), source: source, digest: try row.text(2))
            windows[Int(index)][key] = try row.integer(3)
        }
        return windows
    }

    /// The number of requests of clients and caches, by the hour.
    package func inquiryTotals(of name: String, since hour: Int64) throws -> [Int64: Int64] {
        let rows = try self.connection.rows(
            "SELECT hour, SUM(count) FROM inquiry WHERE name = ? AND hour >= ? GROUP BY hour",
            [.text(name), .integer(hour)])
        return Dictionary(try rows.map { (try $0.integer(0), try $0.integer(1)) }) { $0 + $1 }
    }
}

extension StoreTransaction {
    /// The known spread of the keys of entries: what was counted, and what the lists say that were named most often.
    package func deployableKeys(
        of name: String, entries: [PinnedDomain], versions: [String: Int64], window: Int64, at now: Timestamp
    ) throws -> DeployableKeys {
        let listRequests = try self.listRequests(of: name, windows: 1, of: HeldCount.hours(of: window), until: now.hour)
        let count = HeldCount(listRequests.first ?? [:], versions: versions, window: window, at: now)
        return try DeployableKeys(count, of: entries, at: now) { version in
            guard let envelope = try self.envelopes(of: version, name: name, limit: 1).first,
                let read = try? Envelope(envelope, of: .pins, limits: MetadataLimits())
            else { return nil }
            // It was verified when it was published.
            return try? PinList(payload: read.payload)
        }
    }
}
