// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The host under which a report is counted by the hour, on one day.
///
/// A listed host is always counted as itself, even in a flood. Of others at most ``maximumOther`` a name and day are
/// counted as themselves, the first ones; the rest is ``HostRate/otherHosts``. So a day has no more hosts in it than the
/// lists have, and 101 for each published name, and for all reports that name no published list together.
///
/// A store goes through a batch as follows (decision 0046): for each day in it that has a report that is not listed it
/// reads the places that are taken (`day`, `name`, `host`: at most 100 rows a name), makes a value of them, asks
/// ``host(of:)`` for each report, and stores ``added``. Adding a place that is there already changes nothing, so instances
/// need no lock; each may add up to 100 before it sees what another one added.
package struct CountedHosts: Sendable {
    /// A place that another host than a listed one has taken.
    package struct Place: Hashable, Sendable {
        /// The name of the published list that the report names; empty where it names none.
        package let name: String
        /// The noted host.
        package let host: String

        /// States a place.
        package init(name: String, host: String) {
            self.name = name
            self.host = host
        }
    }

    /// The maximum number of hosts of no published list that are counted as themselves, for each name and day (changes
    /// of the contract, 12).
    static let maximumOther = 100

    /// The places that were taken since the value was made: what a store has to add.
    package private(set) var added: Set<Place> = []
    private var taken: Set<Place>
    private var counts: [String: Int]

    /// The hosts of a day.
    ///
    /// - Parameter taken: The places that a store has for the day; empty where no report of the day is unlisted.
    package init(taken: Set<Place>) {
        self.taken = taken
        self.counts = taken.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }

    /// The host that a report counts for: its noted host, which is empty for an incident of a published list, or
    /// ``HostRate/otherHosts``.
    package mutating func host(of report: AcceptedReport) -> String {
        let host = report.group.notedHostname
        if report.isListed { return host }
        // An incident of a list that is not published here is no incident of ours, and has no host.
        if host.isEmpty { return HostRate.otherHosts }
        let place = Place(name: report.publishedName ?? "", host: host)
        if self.taken.contains(place) { return host }
        guard self.counts[place.name, default: 0] < Self.maximumOther else { return HostRate.otherHosts }
        self.counts[place.name, default: 0] += 1
        self.taken.insert(place)
        self.added.insert(place)
        return host
    }
}
