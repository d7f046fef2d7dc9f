// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The scenario of a drill.
enum DrillScenario: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The server comes back with a new key, of which no list has the pin.
    case lostKey = "lost-key"
    /// Another authority, which the devices trust, has made a certificate for the host: interception.
    case strangeCA = "strange-ca"
    /// A list is out that no member of the team signed, with the team's own pins key.
    case stolenPinsKey = "stolen-pins-key"
    /// A list of the team is out with pins that no server presents.
    case wrongList = "wrong-list"

    /// The heading of the page.
    var title: String {
        switch self {
        case .lostKey: "a lost key"
        case .strangeCA: "a strange authority"
        case .stolenPinsKey: "a stolen pins key"
        case .wrongList: "a wrong list"
        }
    }

    /// The story of the scenario, for the page: it is not shown during the drill.
    var story: String {
        switch self {
        case .lostKey:
            "The key of the server was lost. The server came back with a new one, from the usual authority, of which "
                + "no list has the pin."
        case .strangeCA:
            "The connections of some installations were intercepted, with a certificate of another authority that "
                + "their devices trust. The server itself was never wrong."
        case .stolenPinsKey:
            "A list was published that no member of the team signed, with the team's own pins key. It has the pins of "
                + "a stranger in place of the server's."
        case .wrongList: "The team published a list in which all pins of the host are pins that no server presents."
        }
    }

    /// The cause of the scenario.
    var cause: DrillCause {
        switch self {
        case .lostKey: .unlistedKey
        case .strangeCA: .interception
        case .stolenPinsKey: .strangeSigner
        case .wrongList: .wrongPins
        }
    }

    /// The page of docs/operations that says what to do.
    var runbook: String {
        switch self {
        case .lostKey, .strangeCA, .wrongList: "kill-switch.md"
        case .stolenPinsKey: "stolen-pins-key.md"
        }
    }

    /// The goal of a step, and how soon after the break.
    func goal(of step: DrillStep) -> DrillGoal {
        switch (self, step) {
        case (_, .noticed): .within(minutes: 5)
        case (_, .causeFound): .within(minutes: 30)
        case (.lostKey, .suspended): .within(minutes: 15)
        case (.strangeCA, .suspended): .not("until a suspension ends, an interceptor gets every request")
        case (.stolenPinsKey, .suspended), (.wrongList, .suspended): .optional
        case (.strangeCA, .listPublished): .not("nothing is wrong with the list that is out")
        case (.stolenPinsKey, .listPublished): .within(minutes: 90)
        case (.lostKey, .listPublished), (.wrongList, .listPublished): .within(minutes: 60)
        case (.strangeCA, .allBack): .within(minutes: 35)
        case (.stolenPinsKey, .allBack): .within(minutes: 95)
        case (.lostKey, .allBack), (.wrongList, .allBack): .within(minutes: 65)
        }
    }
}
