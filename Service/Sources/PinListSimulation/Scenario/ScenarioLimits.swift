// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The limits of a scenario: a file from elsewhere does not choose how long a simulation runs, or how much memory it
/// takes.
public enum ScenarioLimits {
    /// The numbers of installations that are allowed.
    public static let clients = 1...50_000_000
    /// The numbers of simulated days that are allowed.
    public static let days = 1...1_000
    /// The maximum number of events, rollouts included. Verdicts grow with its square.
    public static let events = 256
    /// The maximum number of outages of the host of the lists, as many as events.
    public static let outages = 256
    /// The maximum number of keys that a list names, or denies.
    public static let keysOfList = 16
    /// The maximum number of keys in all. Each is a chain of certificates.
    public static let keys = 64
    /// The maximum number of bytes of a key's name: people read it.
    public static let nameLength = 64
    /// The shape of the gamma distribution.
    public static let shape = 0.01...1_000.0
    /// Its scale, in seconds: a minute to a hundred years.
    public static let scale: ClosedRange<Int64> = 60...TimeSpan.maximum
    /// The lengths of a session that are allowed, in seconds: a second to a day.
    public static let session: ClosedRange<Int64> = 1...86_400
    /// The ages of a cache's answer that are allowed, in seconds: to a week.
    public static let cache: ClosedRange<Int64> = 0...604_800
    /// The lengths of a suspension that are allowed, in seconds: what lists allow (formats.md, section 3).
    public static let suspension: ClosedRange<Int64> = 60...604_800
    /// The maximum number of steps of all installations together; a step is a moment at which one of them does
    /// something. A rotation of 5,000,000 installations over 60 days has about 200,000,000.
    public static let steps = 2_000_000_000
}

/// The reason for which there is no answer.
public struct SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Hashable, Sendable {
        /// A value of the scenario is out of its range.
        case scenario
        /// The installations would do more than ``ScenarioLimits/steps`` things.
        case tooMuchWork
    }

    /// The kind.
    public let code: Code
    /// The error, without a full stop.
    public let reason: String

    /// States an error.
    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { self.reason }
}

extension Scenario {
    /// Refuses values that are out of their ranges.
    func check() throws(SimulationError) {
        func expect(_ holds: Bool, _ reason: String) throws(SimulationError) {
            guard holds else { throw SimulationError(.scenario, reason) }
        }
        typealias Limits = ScenarioLimits
        try expect(Limits.clients.contains(self.clients), "clients is not in \(Limits.clients)")
        try expect(Limits.days.contains(self.simulatedDays), "the number of days is not in \(Limits.days)")
        try expect(Limits.session.contains(self.session.seconds), "session is not in \(Limits.session) s")
        try expect(Limits.cache.contains(self.cache.seconds), "cache is not in \(Limits.cache) s")
        try expect(self.events.count <= Limits.events, "there are over \(Limits.events) events")
        try expect(self.outages.count <= Limits.outages, "there are over \(Limits.outages) outages")
        try expect((0...1).contains(self.offline?.share ?? 0), "the offline share is not a number from 0 to 1")
        try expect(self.validFor?.seconds != 0, "validFor is not a duration")
        switch self.opened {
        case .gammaPoisson(let shape, let scale):
            try expect(Limits.shape.contains(shape), "shape is not in \(Limits.shape)")
            try expect(Limits.scale.contains(scale.seconds), "scale is not in \(Limits.scale) s")
        case .daily(let share): try expect((0...1).contains(share), "share is not a number from 0 to 1")
        case .trace: break
        }
        for event in self.events {
            switch event.change {
            case .publish(let pins, let denied, let mode):
                try expect(!pins.isEmpty || mode == .off, "a list that is published names no key")
                try expect(max(pins.count, denied.count) <= Limits.keysOfList, "a list names too many keys")
            case .switchTo: break
            case .suspend(let duration):
                try expect(
                    Limits.suspension.contains(duration.seconds), "a suspension is not in \(Limits.suspension) s")
            case .rollout(let percent): try expect((0...100).contains(percent), "percent is not from 0 to 100")
            }
        }
    }
}
