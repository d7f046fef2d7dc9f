// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A step that is timed, in the order of the page.
enum DrillStep: Int, CaseIterable, Sendable {
    /// The person said that something is wrong, or did something about it.
    case noticed
    /// The list that is served suspends the host.
    case suspended
    /// The person named the right cause.
    case causeFound
    /// The list that is served repairs what was wrong.
    case listPublished
    /// Every installation gets its page because a pin matches.
    case allBack

    /// In words.
    var words: String {
        switch self {
        case .noticed: "noticed"
        case .suspended: "suspended"
        case .causeFound: "cause found"
        case .listPublished: "list published"
        case .allBack: "all installations back"
        }
    }
}

/// The goal of a step.
enum DrillGoal: Hashable, Sendable {
    /// So many minutes after the break.
    case within(minutes: Int64)
    /// The step helps, and a team may go without it.
    case optional
    /// The step does harm or nothing; why, without a full stop.
    case not(String)

    /// The maximum time in seconds; `nil` where there is none.
    var seconds: Int64? {
        guard case .within(let minutes) = self else { return nil }
        return minutes * 60
    }
}
