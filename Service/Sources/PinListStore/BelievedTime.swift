// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The believed time: what is old is forgotten by it, and it does not follow a clock that jumped until that has lasted.
///
/// What is forgotten is gone, so one clock that is wrong for a moment must not decide on it. Instances on one database share
/// the time, and a service that starts anew goes on with it (docs/decisions/0080).
package struct BelievedTime: Hashable, Sendable {
    /// The largest difference of a clock that is no jump, in seconds: half a day. What an instance says of its targets
    /// holds for a day (``StoreTransaction/targetsKept``), and so outlasts a clock that is believed.
    package static let step: Int64 = 43_200
    /// The time for which looks have to see a jump before it is believed, in seconds: a day.
    static let confirmation: Int64 = 86_400
    /// The part of that which a clock that jumps once more has to last for by itself, in seconds: an hour. A service that
    /// runs for some hours a day jumps each time that it starts, and comes to forget as well.
    static let lastPart: Int64 = 3_600
    /// The most that the time between two looks counts of that, in seconds. Instances look four times as often, and a clock
    /// that goes too fast gains nothing.
    static let lookStep: Int64 = 60

    /// A time that a clock jumped to, and that is not believed yet.
    struct Jump: Hashable, Sendable {
        /// The time of the last look there.
        var to: Timestamp
        /// How long looks have seen it, and what is left of the jumps before it, in seconds.
        var lasted: Int64
    }

    /// The time of the last look that was believed.
    private(set) var time: Timestamp
    /// The jump that may come to be believed; `nil` while there is none.
    private(set) var jump: Jump?
    /// The seconds that steps, each too small for a jump, took it ahead of the looks. Each look takes some of them off.
    private(set) var gained: Int64

    /// States a time, as a first look does: there is nothing to compare it with.
    init(_ time: Timestamp, jump: Jump? = nil, gained: Int64 = 0) {
        self.time = time
        self.jump = jump
        self.gained = gained
    }

    /// Looks at a clock. One that goes on from the believed time is believed, and ends what another jumped to.
    mutating func look(at now: Timestamp) {
        var lasted: Int64 = 0
        if let last = self.jump {
            lasted =
                Self.isJump(from: last.to, to: now)
                ? min(last.lasted, Self.confirmation - Self.lastPart)
                : last.lasted + min(max(now.secondsSince1970 - last.to.secondsSince1970, 0), Self.lookStep)
        }
        let gained = self.gained(at: now)
        if gained <= Self.step {
            self = BelievedTime(now, gained: gained)
        } else if lasted >= Self.confirmation {
            self = BelievedTime(now)
        } else {
            self = BelievedTime(self.time, jump: Jump(to: now, lasted: lasted), gained: self.gained)
        }
    }

    /// The seconds that it would have gained by a look at a clock that shows `now`: over ``step`` for a jump, and for one step
    /// too many.
    private func gained(at now: Timestamp) -> Int64 {
        guard !Self.isJump(from: self.time, to: now) else { return .max }
        return max((now.secondsSince1970 - self.time.secondsSince1970) + self.gained - Self.lookStep, 0)
    }

    /// The time to forget by, for a clock that shows `now`: never later than that, and not beyond a jump.
    package func time(by now: Timestamp) -> Timestamp { min(self.shared(by: now), now) }

    /// The time that all instances say and read what they know by, for a clock that shows `now`: the last believed one for a
    /// clock that jumped, ahead or behind.
    package func shared(by now: Timestamp) -> Timestamp { self.isBelieved(now) ? now : self.time }

    /// Whether a clock that shows `now` goes on from the believed time.
    package func isBelieved(_ now: Timestamp) -> Bool { self.gained(at: now) <= Self.step }

    private static func isJump(from time: Timestamp, to other: Timestamp) -> Bool {
        let (difference, isOver) = other.secondsSince1970.subtractingReportingOverflow(time.secondsSince1970)
        return isOver || difference.magnitude > UInt64(Self.step)
    }
}

extension StoreTransaction {
    /// The rows of the believed time, beside the leases: two times, and two numbers of seconds.
    private static var timeRows: (time: String, jump: String, lasted: String, gained: String) {
        ("time", "time:jump", "time:lasted", "time:gained")
    }

    /// The believed time, as looks left it; `nil` before the first one.
    func believedTime() throws -> BelievedTime? {
        let names = Self.timeRows
        var rows: [String: Int64] = [:]
        for row in try self.connection.rows(
            "SELECT what, until FROM turn WHERE what IN (?, ?, ?, ?)",
            [.text(names.time), .text(names.jump), .text(names.lasted), .text(names.gained)])
        { rows[try row.text(0)] = try row.integer(1) }
        guard let time = rows[names.time] else { return nil }
        var jump: BelievedTime.Jump?
        if let to = rows[names.jump], let lasted = rows[names.lasted] {
            jump = BelievedTime.Jump(
                to: Timestamp(secondsSince1970: to), lasted: min(max(lasted, 0), BelievedTime.confirmation))
        }
        let gained = min(max(rows[names.gained] ?? 0, 0), BelievedTime.step)
        return BelievedTime(Timestamp(secondsSince1970: time), jump: jump, gained: gained)
    }

    /// The time to forget by (``BelievedTime/time(by:)``), for a clock that shows `now`.
    package func believedTime(by now: Timestamp) throws -> Timestamp {
        try self.believedTime()?.time(by: now) ?? now
    }

    /// The time that instances say and read what they know by (``BelievedTime/shared(by:)``).
    package func sharedTime(by now: Timestamp) throws -> Timestamp {
        try self.believedTime()?.shared(by: now) ?? now
    }

    /// The later one of a clock and the believed time: what is dated far beyond it was dated by a wrong clock.
    package func latestTime(by now: Timestamp) throws -> Timestamp { max(now, try self.believedTime()?.time ?? now) }

    /// Looks at a clock, for all instances: under ``StoreLock/leases``, so that no look is lost. The first look at a database
    /// that is not new is compared with what was written to it last.
    package func lookAtClock(_ now: Timestamp) throws -> BelievedTime {
        var believed = try self.believedTime() ?? BelievedTime(self.lastWritten() ?? now)
        believed.look(at: now)
        try self.put(believed)
        return believed
    }

    /// When reports, or an entry of the audit log, were written last; `nil` where there are none.
    private func lastWritten() throws -> Timestamp? {
        let queries = ["SELECT MAX(last_at) FROM group_count", "SELECT time FROM audit ORDER BY number DESC LIMIT 1"]
        return try queries.compactMap { try self.connection.rows($0, []).first?.optionalInteger(0) }.max()
            .map { Timestamp(secondsSince1970: $0) }
    }

    /// Stores a believed time in place of the one before.
    func put(_ believed: BelievedTime) throws {
        let names = Self.timeRows
        let rows = [
            (names.time, believed.time.secondsSince1970 as Int64?), (names.jump, believed.jump?.to.secondsSince1970),
            (names.lasted, believed.jump?.lasted), (names.gained, believed.gained > 0 ? believed.gained : nil),
        ]
        for (name, value) in rows {
            guard let value else {
                try self.connection.execute("DELETE FROM turn WHERE what = ?", [.text(name)])
                continue
            }
            try self.connection.execute(
                """
                INSERT INTO turn (what, instance, until) VALUES (?, '', ?)
                ON CONFLICT (what) DO UPDATE SET until = excluded.until
                """, [.text(name), .integer(value)])
        }
    }

    /// The time by the clock of the database's machine; `nil` where that is this machine.
    package func serverTime() throws -> Timestamp? {
        try self.connection.serverTime().map { Timestamp(secondsSince1970: $0) }
    }
}
