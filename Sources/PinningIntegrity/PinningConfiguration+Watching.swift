// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListClient
public import RuntimeIntegrity

extension PinningConfiguration {
    /// Lets a monitor look before each pinned connection: its signals go into reports, and pinned connections are
    /// refused where its policy says so. The app runs the monitor's `run()`, for what takes longer.
    ///
    /// Two things are asked, ``RuntimeIntegrity/IntegrityMonitor/check()`` and what all looks so far lead to: an attacker
    /// who silences one of them has not silenced the other.
    ///
    /// - Parameter monitor: The monitor. It is kept for as long as the client is.
    public mutating func watch(_ monitor: IntegrityMonitor) {
        self.surroundings = {
            let now = monitor.check()
            let before = monitor.decision
            return Surroundings(signals: now.attached, refuses: now.refuses)
                .joined(with: Surroundings(signals: before.attached, refuses: before.refuses))
        }
    }
}
