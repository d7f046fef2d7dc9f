// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// What a simulation is about: installations, when they are opened, and what is done to lists and servers
/// (formats.md, section 11). Moments are counted from the beginning.
public struct Scenario: Hashable, Sendable {
    /// How many installations there are.
    public var clients: Int
    /// When they are opened.
    public var opened: OpeningModel
    /// How long an installation stays open.
    public var session = TimeSpan(seconds: 180)
    /// Those that are not opened for a while, whatever ``opened`` says.
    public var offline: Offline?
    /// What the lists ask for: how long a client waits before it asks again.
    public var refreshAfter = TimeSpan(seconds: PinList.defaultRefreshAfter)
    /// How old the list may be that installations are given: a cache in front of the lists takes it anew so often,
    /// counted from the beginning.
    public var cache = TimeSpan(seconds: 0)
    /// When the host of the lists does not answer.
    public var outages: [Outage] = []
    /// The pinned host that the host of the lists shares its fate with: who refuses the one gets nothing from the other.
    public var sharesFateWith: HostName?
    /// How long a list is valid; `nil` for lists that do not expire before the end.
    public var validFor: TimeSpan?
    /// What the entries of an expired list do.
    public var whenStale = PinList.WhenStale.enforce
    /// What happens, in any order; of the same moment in this order.
    public var events: [Event] = []
    /// How many days are simulated; `nil` for those until the last event, and 30 more.
    public var days: Int?

    /// The key that the shipped list pins and the server presents at the beginning.
    public static let firstKey = "old"

    /// A share of the installations that is offline for some time, which begins at a moment that is drawn.
    public struct Offline: Hashable, Sendable {
        /// From 0 to 1.
        public var share: Double
        /// How long.
        public var duration: TimeSpan

        /// Puts both together.
        public init(share: Double, for duration: TimeSpan) {
            self.share = share
            self.duration = duration
        }
    }

    /// A time in which the host of the lists does not answer.
    public struct Outage: Hashable, Sendable {
        /// When it begins.
        public var from: TimeSpan
        /// How long it lasts.
        public var duration: TimeSpan

        /// Puts both together.
        public init(from: TimeSpan, for duration: TimeSpan) {
            self.from = from
            self.duration = duration
        }
    }

    /// Something that is done.
    public struct Event: Hashable, Sendable {
        /// When.
        public var at: TimeSpan
        /// What.
        public var change: Change

        /// Puts both together.
        public init(at: TimeSpan, _ change: Change) {
            self.at = at
            self.change = change
        }
    }

    /// What is done.
    public enum Change: Hashable, Sendable {
        /// A list is published that names these keys.
        ///
        /// - Parameters:
        ///   - pins: The names of the keys that are pinned.
        ///   - denied: The names of the keys that are refused.
        ///   - mode: What a mismatch does.
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
    ///   - clients: How many installations there are.
    ///   - opened: When they are opened.
    public init(clients: Int, opened: OpeningModel) {
        self.clients = clients
        self.opened = opened
    }

    /// How many days are simulated.
    public var simulatedDays: Int {
        if let days { return days }
        let last = self.events.map(\.at.seconds).max() ?? 0
        return (Int(exactly: (last + 86_399) / 86_400) ?? 0) + 30
    }
}
