// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How many processes may run at once: with more, each would take longer than the tests allow it to take.
actor ProcessSlots {
    /// Those of all tests.
    static let all = ProcessSlots(count: 4)

    private var freeCount: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { self.freeCount = count }

    /// Waits for a slot and takes it.
    func take() async {
        if self.freeCount > 0 {
            self.freeCount -= 1
        } else {
            await withCheckedContinuation { self.waiting.append($0) }
        }
    }

    /// Gives a slot back; who has waited longest takes it.
    func give() {
        if self.waiting.isEmpty { self.freeCount += 1 } else { self.waiting.removeFirst().resume() }
    }
}
