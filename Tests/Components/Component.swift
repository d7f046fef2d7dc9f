// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A real program that some tests are run against, and that the others do not need.
///
/// `make nightly` asks for all of them and `.ci/run` for a few tests of each. The environment variable
/// `TUMBLER_COMPONENTS` has their names, separated by commas, or `all`.
enum Component: String, CaseIterable {
    case caddy, mitmproxy, network, nginx, postgresql, softhsm, systemd

    /// Why a run that does not ask for it leaves its tests out. `scripts/tally` knows the words.
    var whoRunsIt: Comment { "left to make nightly: \(self.rawValue)" }

    /// Whether this run asks for its tests.
    var isWanted: Bool {
        let names = (ProcessInfo.processInfo.environment["TUMBLER_COMPONENTS"] ?? "").split(separator: ",")
        return names.contains { $0 == "all" || $0 == self.rawValue }
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test to the runs that ask for its component.
    static func wants(_ component: Component) -> Self {
        .enabled(if: component.isWanted, component.whoRunsIt)
    }
}
