// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) public import PinListClient
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
        self.runtimeEnvironment = {
            let now = monitor.check()
            let before = monitor.decision
            return RuntimeEnvironment(signals: now.attached, refuses: now.refuses)
                .joined(with: RuntimeEnvironment(signals: before.attached, refuses: before.refuses))
        }
    }
}

extension RuntimeEnvironment {
    /// States what an app's own checks noticed, and whether pinned connections are refused because of it.
    ///
    ///     configuration.surroundings = { RuntimeEnvironment(refuses: isRunningInASandboxOfMine()) }
    ///
    /// - Parameters:
    ///   - signals: Names of signals: they go into reports of failures (formats.md, section 5).
    ///   - refuses: Whether pinned connections are refused, with the reason `tampering`.
    public init(signals: [String] = [], refuses: Bool) {
        self.init(signals: signals, refusal: refuses ? TamperingRefusal() : nil)
    }
}
