// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The quota of groups of reports, when strangers make up new ones without end.
///
/// Groups are kept in two parts: those of published lists and their hosts, and all others. Neither part takes room of the
/// other, so invented hosts push out nothing that belongs to the operator. Within a part each host has a share, because a
/// stranger can also name a listed host and make up versions of an app. Where there is no room, the oldest group of one
/// report leaves, else one that is small and was not reported for a day (``mayLeave(reports:lastAt:at:)``); where there is
/// none, the newcomer is counted in ``ReportGroup/overflow(isListed:)``.
///
/// A store goes through the new groups of a batch as follows (decision 0046):
///
/// 1. It counts the groups of each part, without those that are an overflow, and makes a quota of the two numbers.
/// 2. For each group that it does not have yet it counts the groups of the ``Share`` and asks ``room(for:holding:)``.
/// 3. `free`: it stores the group and calls ``add(_:)``.
/// 4. `whenOneLeaves`: it looks for a group that may leave, no overflow, in the share or in the part: those of one report
///    first, then the others, of each the one whose last report is the oldest (then the lowest number). It deletes that one,
///    with its reports and what is counted of it, and stores the newcomer. The quota stays as it is. Where there is no such
///    group it counts the reports in `group.overflow(isListed:)`.
///
/// Counts by the hour (``CountedHosts``) do not leave with a group: a rate never falls because a group made room.
package struct GroupQuota: Hashable, Sendable {
    /// The share of one host's room: all groups of a noted host, or all incidents of a list.
    package struct Share: Hashable, Sendable {
        /// Whether it stands in the part of published lists and their hosts (``AcceptedReport/isListed``).
        package let isListed: Bool
        /// The noted host; empty for incidents.
        package let host: String
        /// The list's name for incidents; empty for anything else, where it says nothing.
        package let listName: String
        /// Whether its reports are attested: these have a part of their own, which no made-up report reaches.
        package let isAttested: Bool

        /// The part that it takes room of.
        package var part: Part { self.isAttested ? .attested : self.isListed ? .listed : .other }

        /// The share that a group counts against.
        package init(of group: ReportGroup, isListed: Bool) {
            self.isListed = isListed
            self.host = group.notedHostname
            self.listName = group.kind == .incident ? group.listName : ""
            self.isAttested = group.attestation == .attested
        }

        /// The share of a key of its own.
        init(ofKey key: String) {
            (self.isListed, self.host, self.listName, self.isAttested) = (true, key, "", false)
        }
    }

    /// A part of the room that does not take room of the others.
    package enum Part: Hashable, Sendable {
        /// Published lists and their hosts.
        case listed
        /// All others.
        case other
        /// Attested reports, of any host.
        case attested
    }

    /// The scope in which a group is looked for that leaves.
    package enum Scope: Hashable, Sendable {
        /// Among the groups of the newcomer's share: the host has all that one host may take.
        case share
        /// Among the groups of the newcomer's part.
        case part
    }

    /// Whether a new group has room.
    package enum Room: Hashable, Sendable {
        /// The group has room.
        case free
        /// The group has room when another one leaves; else its reports go to the overflow.
        case whenOneLeaves(Scope)
    }

    /// The part of a share: one in so many of its part.
    static let sharesOfPart = 8
    /// The minimum number of groups of a share, where the part is large enough: one host that fails in several ways.
    static let minimumOfShare = 16

    /// The maximum number of reports of a small group, which leaves when it was not reported for ``smallGroupSeconds``. It is as
    /// many as have their documents kept: what really fails has more within a day, or was small and is over. A stranger who
    /// reports 625 made-up groups twice fills the share of a host; now they stay for a day, or need 10,625 reports.
    package static let maximumOfSmallGroup: Int64 = 16
    /// The time for which a small group stays after its last report, in seconds.
    package static let smallGroupSeconds: Int64 = 86_400
    /// The maximum number of networks that reported a small group on a day, where they are counted: one line has two, IPv4
    /// and IPv6. What more reported is less often made up, though a stranger may have several.
    package static let maximumNetworksOfSmallGroup: Int64 = 2

    /// The maximum number of groups of published lists and their hosts: half, and the odd one.
    let maximumListed: Int
    /// The maximum number of groups of all others.
    let maximumOther: Int
    /// Groups of published lists and their hosts, without overflows.
    package private(set) var listed: Int
    /// All other groups, without overflows.
    private(set) var other: Int
    /// Groups of attested reports, without overflows: as many as of published lists at most.
    private(set) var attested: Int

    /// A quota.
    ///
    /// - Parameters:
    ///   - listed: The number of groups of published lists and their hosts, without overflows.
    ///   - other: The number of other groups, without overflows.
    ///   - attested: The number of groups of attested reports, without overflows.
    ///   - maximum: The most groups of the first two together, at least 2.
    package init(listed: Int, other: Int, attested: Int = 0, maximum: Int = ReportGroup.maximumGroups) {
        self.maximumOther = max(maximum, 2) / 2
        self.maximumListed = max(maximum, 2) - self.maximumOther
        self.listed = listed
        self.other = other
        self.attested = attested
    }

    /// The maximum number of groups of one share.
    func maximumOfShare(isListed: Bool) -> Int {
        let part = isListed ? self.maximumListed : self.maximumOther
        return min(max(part / Self.sharesOfPart, Self.minimumOfShare), part)
    }

    /// Whether there is room for a new group.
    ///
    /// - Parameters:
    ///   - share: The newcomer's.
    ///   - count: The number of groups of the share, without overflows.
    package func room(for share: Share, holding count: Int) -> Room {
        if count >= self.maximumOfShare(isListed: share.isListed || share.isAttested) { return .whenOneLeaves(.share) }
        let isFull =
            switch share.part {
            case .listed: self.listed >= self.maximumListed
            case .other: self.other >= self.maximumOther
            case .attested: self.attested >= self.maximumListed
            }
        return isFull ? .whenOneLeaves(.part) : .free
    }

    /// Whether a group may leave for another one, as far as its reports say: it has one, or it is small and old.
    ///
    /// - Parameters:
    ///   - reports: The number of its reports.
    ///   - lastAt: The time of the last one.
    ///   - now: The time.
    package static func mayLeave(reports: Int64, lastAt: Timestamp, at now: Timestamp) -> Bool {
        reports == 1 || (reports <= Self.maximumOfSmallGroup && lastAt < now.before(Self.smallGroupSeconds))
    }

    /// Counts a group that was stored, and for which none left.
    package mutating func add(_ share: Share) {
        switch share.part {
        case .listed: self.listed += 1
        case .other: self.other += 1
        case .attested: self.attested += 1
        }
    }
}
