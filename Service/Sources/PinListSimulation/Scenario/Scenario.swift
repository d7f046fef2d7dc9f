// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// The scenario of a simulation: installations, when they are opened, and what is done to lists and servers
/// (formats.md, section 11). Moments are counted from the beginning.
public struct Scenario: Hashable, Sendable {
    /// The number of installations.
    public var clients: Int
    /// The times at which they are opened.
    public var opened: OpeningModel
    /// The time that an installation stays open.
    public var session = TimeSpan(seconds: 180)
    /// The installations that are not opened for a while, against what ``opened`` says.
    public var offline: Offline?
    /// The `refreshAfter` of the lists: how long a client waits before it asks again.
    public var refreshAfter = TimeSpan(seconds: PinList.defaultRefreshAfter)
    /// The age that the list may have that installations are given: a cache in front of the lists takes it anew so
    /// often, counted from the beginning.
    public var cache = TimeSpan(seconds: 0)
    /// The outages of the host of the lists.
    public var outages: [Outage] = []
    /// The pinned host that the host of the lists shares its fate with: who refuses the one gets nothing from the other.
    public var sharesFateWith: HostName?
    /// The validity of a list; `nil` for lists that do not expire before the end.
    public var validFor: TimeSpan?
    /// The rule for the entries of an expired list.
    public var whenStale = PinList.WhenStale.enforce
    /// The events, in any order; of the same moment in this order.
    public var events: [Event] = []
    /// The number of simulated days; `nil` for those until the last event, and 30 more.
    public var days: Int?

    /// The key that the shipped list pins and the server presents at the beginning.
    public static let firstKey = "old"

    /// A share of the installations that is offline for some time, which begins at a moment that is drawn.
    public struct Offline: Hashable, Sendable {
        /// From 0 to 1.
        public var share: Double
        /// The duration.
        public var duration: TimeSpan

        /// Puts both together.
        public init(share: Double, for duration: TimeSpan) {
            self.share = share
            self.duration = duration
        }
    }

    /// A time in which the host of the lists does not answer.
    public struct Outage: Hashable, Sendable {
        /// The time at which it begins.
        public var from: TimeSpan
        /// The duration.
        public var duration: TimeSpan

        /// Puts both together.
        public init(from: TimeSpan, for duration: TimeSpan) {
            self.from = from
            self.duration = duration
        }
    }

    /// An event of a scenario.
    public struct Event: Hashable, Sendable {
        /// The time.
        public var at: TimeSpan
        /// The change.
        public var change: Change

        /// Puts both together.
        public init(at: TimeSpan, _ change: Change) {
            self.at = at
            self.change = change
        }
    }

    /// A change to lists or servers.
    public enum Change: Hashable, Sendable {
        /// A list is published that names these keys.
        ///
        /// - Parameters:
        ///   - pins: The names of the keys that are pinned.
        ///   - denied: The names of the keys that are refused.
        ///   - mode: The mode of the entry.
        case publish(pins: [String], denied: [String] = [], mode: PinnedDomain.Mode = .enforce)
        /// The server presents another key.
        case switchTo(String)
        /// A list is published under which pinning is suspended for so long.
        case suspend(TimeSpan)
        /// A list is published that so many percent of the installations enforce.
        case rollout(percent: Int)
    }

    /// A scenario in which nothing happens, with the defaults of the format.
    ///
    /// - Parameters:
    ///   - clients: The number of installations.
    ///   - opened: The times at which they are opened.
    public init(clients: Int, opened: OpeningModel) {
        self.clients = clients
        self.opened = opened
    }

    /// The number of simulated days.
    public var simulatedDays: Int {
        if let days { return days }
        let last = self.events.map(\.at.seconds).max() ?? 0
        return (Int(exactly: (last + 86_399) / 86_400) ?? 0) + 30
    }
}
