// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// The record of a drill and its times: a value, from which the page is made.
struct DrillRecord: Sendable {
    /// An action or observation of a drill.
    struct Entry: Hashable, Sendable {
        /// The time.
        let time: Timestamp
        /// The text, in a line without a full stop.
        let words: String
    }

    /// The outcome of a step, held against its goal.
    enum Outcome: Hashable, Sendable {
        /// Within its time.
        case met
        /// Done, or left out, as it should be.
        case right(String)
        /// Too late by so many seconds.
        case late(Int64)
        /// Never done.
        case missing
        /// Done, and it should not have been; why.
        case wrong(String)

        /// Whether the drill went well as far as this step goes.
        var isGood: Bool {
            switch self {
            case .met, .right: true
            case .late, .missing, .wrong: false
            }
        }
    }

    /// The scenario.
    let scenario: DrillScenario
    /// The host.
    let host: HostName
    /// The name of the list.
    let name: String
    /// The number of installations that took part.
    let installations: Int
    /// The time that clients in the field wait between two refreshes, in seconds.
    let refreshInterval: Int64
    /// Whether the drill ran without a person.
    let isAutomatic: Bool
    /// The time at which the server, or the list, was broken.
    let brokenAt: Timestamp
    /// The number of requests that reached the interceptor.
    var interceptedRequests = 0

    /// The actions and observations, in their order.
    private(set) var entries: [Entry] = []
    private var reached: [DrillStep: Timestamp] = [:]

    /// Begins a record.
    init(
        _ scenario: DrillScenario, host: HostName, name: String, installations: Int, refreshInterval: Int64,
        isAutomatic: Bool, brokenAt: Timestamp
    ) {
        self.scenario = scenario
        self.host = host
        self.name = name
        self.installations = installations
        self.refreshInterval = refreshInterval
        self.isAutomatic = isAutomatic
        self.brokenAt = brokenAt
    }

    /// Writes something down.
    mutating func note(_ words: String, at time: Timestamp) {
        self.entries.append(Entry(time: time, words: PrintableText.line(words, maximumLength: 512)))
    }

    /// A step was reached; only the first time counts.
    ///
    /// - Returns: Whether it is the first time.
    @discardableResult
    mutating func reach(_ step: DrillStep, at time: Timestamp) -> Bool {
        guard self.reached[step] == nil else { return false }
        self.reached[step] = time
        return true
    }

    /// Whether a step was reached.
    func has(_ step: DrillStep) -> Bool { self.reached[step] != nil }

    /// The time from the break until a step was reached, in seconds; `nil` when it was not.
    func seconds(until step: DrillStep) -> Int64? { self.reached[step].map(self.seconds(until:)) }

    /// The time from the break to a moment, in seconds; 0 for a clock that went back.
    func seconds(until time: Timestamp) -> Int64 {
        let (difference, isOver) = time.secondsSince1970.subtractingReportingOverflow(self.brokenAt.secondsSince1970)
        return isOver ? 0 : max(0, difference)
    }

    /// Whether there is nothing left to do.
    var isOver: Bool {
        DrillStep.allCases.allSatisfy { step in
            guard step != .suspended, case .within = self.scenario.goal(of: step) else { return true }
            return self.has(step)
        }
    }

    /// The outcome of a step.
    func outcome(of step: DrillStep) -> Outcome {
        let goal = self.scenario.goal(of: step)
        switch (goal, self.seconds(until: step)) {
        case (.optional, .some): return .right("done")
        case (.optional, nil): return .right("not needed")
        case (.not(let why), .some): return .wrong(why)
        case (.not, nil): return .right("rightly not done")
        case (.within, .some(let seconds)):
            let maximum = goal.seconds ?? 0
            return seconds <= maximum ? .met : .late(seconds - maximum)
        case (.within, nil):
            // A repair within the time for a suspension needs none.
            if step == .suspended, let maximum = goal.seconds, let seconds = self.seconds(until: .listPublished),
                seconds <= maximum
            {
                return .right("not needed: the list was out")
            }
            return .missing
        }
    }

    /// Whether everything is as it should be, each step in its time.
    var isGood: Bool { DrillStep.allCases.allSatisfy { self.outcome(of: $0).isGood } }
}
