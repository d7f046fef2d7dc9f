// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The observations of probes on the keys of a rotation, as far as its gates need them.
///
/// A look counts when every address answered: one that did not answer, or that is not known, may serve anything. What
/// the others serve is a fact all the same: an old key that was seen ends the time without one. Looks that are over
/// ``maximumGap`` apart do not join, because there is no observation in between.
public struct KeySightings: Hashable, Sendable {
    /// The key that one address serves.
    public struct Address: Hashable, Sendable {
        /// The observation of an address.
        public enum Sight: Hashable, Sendable {
            /// The pins of the path that it serves, leaf first, `nil` for a key that cannot be read.
            case served([Pin?])
            /// The reason for which it is not known what it serves, in words that follow the address.
            case unseen(String)
        }

        /// The reason of an address that did not answer, or whose chain is not valid.
        public static let noAnswer = "did not answer with a valid chain"

        /// The address, as it was asked: `192.0.2.1`. The host, where some of its addresses are not known.
        public let address: String

        /// The observation.
        public let sight: Sight

        /// States what an address serves.
        ///
        /// - Parameters:
        ///   - address: The address.
        ///   - pins: The pins of its path; `nil` where it gave ``noAnswer``.
        public init(_ address: String, pins: [Pin?]?) {
            self.address = address
            self.sight = pins.map(Sight.served) ?? .unseen(Self.noAnswer)
        }

        /// States that it is not known what an address serves.
        ///
        /// - Parameters:
        ///   - address: The address, or the host.
        ///   - reason: The reason, in words that follow the address, and several addresses as well.
        public init(_ address: String, unseen reason: String) {
            self.address = address
            self.sight = .unseen(reason)
        }

        /// The pins of the path that it serves; no array where that is not known.
        public var pins: [Pin?]? {
            switch self.sight {
            case .served(let pins): pins
            case .unseen: nil
            }
        }

        /// The address with the reason for which it is not known what it serves, one line; `nil` where it is known.
        public var gap: String? {
            switch self.sight {
            case .served: nil
            case .unseen(let reason): "\(self.address) \(reason)"
            }
        }
    }

    /// The maximum time between two looks that join, in seconds: a week.
    public static let maximumGap: Int64 = 7 * 86_400
    /// The time from which on a look that is dated ahead shows that a clock is wrong, in seconds: half a day.
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

    /// Whether it is dated so far ahead of a time that a clock is wrong: the one that dated it, or the one that has the time.
    package func isAhead(of time: Timestamp) -> Bool { self.isAhead(of: time, byOver: Self.maximumAhead) }

    private func isAhead(of time: Timestamp, byOver seconds: Int64) -> Bool {
        let (ahead, overflow) = self.at.secondsSince1970.subtractingReportingOverflow(time.secondsSince1970)
        return time < self.at && (overflow || ahead > seconds)
    }

    /// The later one of two observations.
    ///
    /// Where it is ahead of the time, the other one may be the later one in truth: what either of them contradicts is then not
    /// known. One that is over ``maximumGap`` ahead counts only where there is no other.
    ///
    /// - Parameters:
    ///   - one: The first one.
    ///   - other: The second one. It is taken where both are of one time.
    ///   - time: The time by the clock of this machine.
    package static func last(_ one: KeySightings, _ other: KeySightings, at time: Timestamp) -> KeySightings {
        let (earlier, later) = one.at <= other.at ? (one, other) : (other, one)
        guard later.isAhead(of: time), !earlier.isAhead(of: time) else { return later }
        guard !later.isAhead(of: time, byOver: Self.maximumGap) else { return earlier }
        func common(_ since: KeyPath<KeySightings, Timestamp?>) -> Timestamp? {
            guard let first = earlier[keyPath: since], let second = later[keyPath: since] else { return nil }
            return max(first, second)
        }
        return KeySightings(
            at: later.at, newEverywhereSince: common(\.newEverywhereSince), oldNowhereSince: common(\.oldNowhereSince))
    }

    /// Adds a look to those before.
    ///
    /// The time of a look is that of this machine's clock. So where those before are dated ahead of it, nothing says which of
    /// the two clocks is wrong. The look then takes away what it contradicts, and adds nothing: the later time stays. Over
    /// ``maximumGap`` ahead the look begins anew, and a true later look does not join it.
    ///
    /// - Parameters:
    ///   - addresses: The keys that each address serves.
    ///   - time: The time of the probe.
    ///   - new: The new key.
    ///   - old: The old keys.
    ///   - before: The earlier observations.
    /// - Returns: The earlier observations with this look. Where an address is unseen, or the look is not later, they
    ///   are only without what it contradicts.
    public static func joining(
        _ addresses: [Address], at time: Timestamp, new: PlannedKey, old: [PlannedKey], to before: KeySightings?
    ) -> KeySightings? {
        let isAhead = before?.isAhead(of: time) ?? false
        let isAnew = before?.isAhead(of: time, byOver: Self.maximumGap) ?? true
        let isLater = before.map { isAnew || $0.at <= time } ?? true
        let paths = addresses.compactMap(\.pins)
        let isNewEverywhere = paths.allSatisfy { new.isIn($0) }
        let isOldNowhere = !paths.contains { path in old.contains { $0.isIn(path) } }
        guard isLater, !paths.isEmpty, paths.count == addresses.count else {
            // What began shortly after the look is not contradicted by it.
            func uncontradicted(_ since: Timestamp?) -> Timestamp? {
                isAhead ? nil : since.flatMap { $0 > time ? $0 : nil }
            }
            var known = before
            if !isNewEverywhere { known?.newEverywhereSince = uncontradicted(before?.newEverywhereSince) }
            if !isOldNowhere { known?.oldNowhereSince = uncontradicted(before?.oldNowhereSince) }
            return known
        }
        let joined = before.flatMap { before -> KeySightings? in
            guard !isAnew else { return nil }
            let (gap, overflow) = time.secondsSince1970.subtractingReportingOverflow(before.at.secondsSince1970)
            return overflow || gap > Self.maximumGap ? nil : before
        }
        return KeySightings(
            at: time,
            newEverywhereSince: isNewEverywhere ? joined?.newEverywhereSince ?? time : nil,
            oldNowhereSince: isOldNowhere ? joined?.oldNowhereSince ?? time : nil)
    }
}
