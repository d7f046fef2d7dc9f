// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    private static var here: String { "here:" }
    /// The time without a sign after which an instance is forgotten, in seconds: a day.
    private static var forgotten: Int64 { 86_400 }

    /// Says that an instance is there, and forgets those of which nothing was heard for a day.
    ///
    /// What holds for half a day longer than an instance can say was said by a wrong clock. It is forgotten, too: the instance may be
    /// gone, and if it is not, it says so again.
    ///
    /// - Parameter seconds: The time for which that holds, in seconds.
    /// - Returns: The number of instances.
    package func stay(_ instance: String, at now: Timestamp, seconds: Int64) throws -> Int {
        let (believed, latest) = (try self.believedTime(by: now), try self.latestTime(by: now))
        try self.connection.execute(
            "DELETE FROM turn WHERE what LIKE ? AND (until < ? OR until > ?)",
            [
                .text(Self.here + "%"), .integer(believed.before(Self.forgotten).secondsSince1970),
                .integer(latest.before(-seconds - BelievedTime.step).secondsSince1970),
            ])
        try self.connection.execute(
            """
            INSERT INTO turn (what, instance, until) VALUES (?, ?, ?)
            ON CONFLICT (what) DO UPDATE SET until = excluded.until
            """,
            [.text(Self.here + instance), .text(instance), .integer(now.before(-seconds).secondsSince1970)])
        let count = try self.connection.rows(
            "SELECT COUNT(*) FROM turn WHERE what LIKE ? AND until > ?",
            [.text(Self.here + "%"), .integer(now.secondsSince1970)]
        ).first?.integer(0)
        return Int(max(count ?? 1, 1))
    }

    /// Says that an instance is gone.
    package func leave(_ instance: String) throws {
        try self.connection.execute("DELETE FROM turn WHERE what = ?", [.text(Self.here + instance)])
    }
}

extension StoreTransaction {
    /// Takes the lease of something that one of several instances is to do, or keeps it.
    ///
    /// An instance that is gone, or whose clock was wrong, holds no lease for longer than it could have taken it for.
    ///
    /// - Parameters:
    ///   - what: The task.
    ///   - instance: The instance that asks for the lease.
    ///   - seconds: The duration of the lease.
    /// - Returns: Whether this instance has the lease.
    package func takeLease(_ what: String, for instance: String, at now: Timestamp, seconds: Int64) throws -> Bool {
        let row = try self.connection.rows("SELECT instance, until FROM turn WHERE what = ?", [.text(what)]).first
        if let row, try row.text(0) != instance {
            let left = try row.integer(1) - now.secondsSince1970
            if left > 0, left <= seconds { return false }
        }
        try self.connection.execute(
            """
            INSERT INTO turn (what, instance, until) VALUES (?, ?, ?)
            ON CONFLICT (what) DO UPDATE SET instance = excluded.instance, until = excluded.until
            """, [.text(what), .text(instance), .integer(now.before(-seconds).secondsSince1970)])
        return true
    }
}
