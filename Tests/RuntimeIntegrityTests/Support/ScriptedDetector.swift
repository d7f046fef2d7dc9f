// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// Says what it is told, and counts how often it is asked.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ScriptedDetector: TamperDetector, @unchecked Sendable {
    private let lock = NSLock()
    private var looks = 0
    let name: String
    let cost: DetectorCost
    private let answers: @Sendable (Int) -> [TamperSignal]

    init(_ name: String, _ cost: DetectorCost, _ answers: @escaping @Sendable (Int) -> [TamperSignal]) {
        self.name = name
        self.cost = cost
        self.answers = answers
    }

    var count: Int { self.lock.withLock { self.looks } }

    func look(at machine: any ObservedMachine) -> DetectorAnswer {
        let look = self.lock.withLock {
            self.looks += 1
            return self.looks
        }
        return DetectorAnswer(self.answers(look))
    }
}
