// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The observations of probes on the keys of a rotation, as far as its gates need them.
///
/// A look counts when every address answered: an address that did not answer may serve anything. What the others serve is
/// a fact all the same: an old key that was seen ends the time without one. Looks that are over ``maximumGap`` apart do not
/// join, because there is no observation in between.
public struct KeySightings: Hashable, Sendable {
    /// The key that one address serves.
    public struct Address: Hashable, Sendable {
        /// The address, as it was asked: `192.0.2.1`.
        public var address: String

        /// The pins of the path that it serves, leaf first, `nil` for a key that cannot be read; no array where it did
        /// not answer, or where its chain is not valid.
        public var pins: [Pin?]?

        /// States what an address serves.
        public init(_ address: String, pins: [Pin?]?) {
            self.address = address
            self.pins = pins
        }
    }

    /// The maximum time between two looks that join, in seconds: a week.
    public static let maximumGap: Int64 = 7 * 86_400
    /// The time from which on a look that is dated ahead was dated by a wrong clock, in seconds: half a day.
    private static let maximumAhead: Int64 = 43_200

    /// The time at which every address was last probed.
    public var at: Timestamp

    /// The time since which every probe saw the new key at every address; `nil` when the last one did not.
    public var newEverywhereSince: Timestamp?

    /// The time since which no probe saw an old key at any address; `nil` when the last one did.
    public var oldNowhereSince: Timestamp?

    /// States what was seen.
    public init(at time: Timestamp, newEverywhereSince: Timestamp? = nil, oldNowhereSince: Timestamp? = nil) {
        self.at = time
        self.newEverywhereSince = newEverywhereSince
        self.oldNowhereSince = oldNowhereSince
    }

    /// Whether it is dated so far ahead of a look at a time that a wrong clock did it.
    package func isAhead(of time: Timestamp) -> Bool {
        let (ahead, overflow) = self.at.secondsSince1970.subtractingReportingOverflow(time.secondsSince1970)
        return time < self.at && (overflow || ahead > Self.maximumAhead)
    }

    /// Adds a look to those before.
    ///
    /// - Parameters:
    ///   - addresses: The keys that each address serves.
    ///   - time: The time of the probe.
    ///   - new: The new key.
    ///   - old: The old keys.
    ///   - before: The earlier observations.
    /// - Returns: The earlier observations, without what this look contradicts, where an address did not answer, or the probe
    ///   is not later. Those that a wrong clock dated ahead count no more: the look begins anew.
    public static func joining(
        _ addresses: [Address], at time: Timestamp, new: PlannedKey, old: [PlannedKey], to before: KeySightings?
    ) -> KeySightings? {
        let isAhead = before?.isAhead(of: time) ?? false
        let isLater = before.map { isAhead || $0.at <= time } ?? true
        let paths = addresses.compactMap(\.pins)
        let isNewEverywhere = paths.allSatisfy { new.isIn($0) }
        let isOldNowhere = !paths.contains { path in old.contains { $0.isIn(path) } }
        guard isLater, !paths.isEmpty, paths.count == addresses.count else {
            // What began after the look is not contradicted by it.
            func uncontradicted(_ since: Timestamp?) -> Timestamp? {
                isAhead ? nil : since.flatMap { $0 > time ? $0 : nil }
            }
            var known = before
            if !isNewEverywhere { known?.newEverywhereSince = uncontradicted(known?.newEverywhereSince) }
            if !isOldNowhere { known?.oldNowhereSince = uncontradicted(known?.oldNowhereSince) }
            return known
        }
        let joined = before.flatMap { before -> KeySightings? in
            guard !isAhead else { return nil }
            let (gap, overflow) = time.secondsSince1970.subtractingReportingOverflow(before.at.secondsSince1970)
            return overflow || gap > Self.maximumGap ? nil : before
        }
        return KeySightings(
            at: time,
            newEverywhereSince: isNewEverywhere ? joined?.newEverywhereSince ?? time : nil,
            oldNowhereSince: isOldNowhere ? joined?.oldNowhereSince ?? time : nil)
    }
}
