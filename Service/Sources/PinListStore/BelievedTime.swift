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
    static let step: Int64 = 43_200
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

    /// States a time, as a first look does: there is nothing to compare it with.
    init(_ time: Timestamp, jump: Jump? = nil) {
        self.time = time
        self.jump = jump
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
        let isBelieved = !Self.isJump(from: self.time, to: now) || lasted >= Self.confirmation
        self = isBelieved ? BelievedTime(now) : BelievedTime(self.time, jump: Jump(to: now, lasted: lasted))
    }

    /// The time to forget by, for a clock that shows `now`: never later than that, and not beyond a jump.
    package func time(by now: Timestamp) -> Timestamp {
        Self.isJump(from: self.time, to: now) ? min(self.time, now) : now
    }

    private static func isJump(from time: Timestamp, to other: Timestamp) -> Bool {
        let (difference, isOver) = other.secondsSince1970.subtractingReportingOverflow(time.secondsSince1970)
        return isOver || difference.magnitude > UInt64(Self.step)
    }
}

extension StoreTransaction {
    /// The rows of the believed time, beside the leases: two times, and a number of seconds.
    private static var timeRows: (time: String, jump: String, lasted: String) { ("time", "time:jump", "time:lasted") }

    /// The believed time, as looks left it; `nil` before the first one.
    func believedTime() throws -> BelievedTime? {
        let names = Self.timeRows
        var rows: [String: Int64] = [:]
        for row in try self.connection.rows(
            "SELECT what, until FROM turn WHERE what IN (?, ?, ?)",
            [.text(names.time), .text(names.jump), .text(names.lasted)])
        { rows[try row.text(0)] = try row.integer(1) }
        guard let time = rows[names.time] else { return nil }
        var jump: BelievedTime.Jump?
        if let to = rows[names.jump], let lasted = rows[names.lasted] {
            jump = BelievedTime.Jump(
                to: Timestamp(secondsSince1970: to), lasted: min(max(lasted, 0), BelievedTime.confirmation))
        }
        return BelievedTime(Timestamp(secondsSince1970: time), jump: jump)
    }

    /// The time to forget by (``BelievedTime/time(by:)``), for a clock that shows `now`.
    package func believedTime(by now: Timestamp) throws -> Timestamp {
        try self.believedTime()?.time(by: now) ?? now
    }

    /// Looks at a clock, for all instances: under ``StoreLock/leases``, so that no look is lost.
    package func lookAtClock(_ now: Timestamp) throws -> BelievedTime {
        var believed = try self.believedTime() ?? BelievedTime(now)
        believed.look(at: now)
        try self.put(believed)
        return believed
    }

    /// Stores a believed time in place of the one before.
    func put(_ believed: BelievedTime) throws {
        let names = Self.timeRows
        let rows = [
            (names.time, believed.time.secondsSince1970 as Int64?), (names.jump, believed.jump?.to.secondsSince1970),
            (names.lasted, believed.jump?.lasted),
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
