// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Counts reports that were sent, and lets a caller wait until they are.
package actor ReportTally {
    /// How many the service accepted.
    package private(set) var accepted = 0
    /// How many it did not, for whatever reason.
    package private(set) var turnedAway = 0
    private var waiting: [(total: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Begins with none.
    package init() {}

    /// Counts one.
    func count(isAccepted: Bool) {
        if isAccepted { self.accepted += 1 } else { self.turnedAway += 1 }
        let total = self.accepted + self.turnedAway
        for waiter in self.waiting where waiter.total <= total { waiter.continuation.resume() }
        self.waiting.removeAll { $0.total <= total }
    }

    /// Waits until so many were counted since the beginning.
    package func wait(for total: Int) async {
        guard self.accepted + self.turnedAway < total else { return }
        await withCheckedContinuation { self.waiting.append((total, $0)) }
    }
}
