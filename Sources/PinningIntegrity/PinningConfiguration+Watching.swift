// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) public import PinListClient
public import RuntimeIntegrity

extension PinningConfiguration {
    /// Asks a monitor before each pinned connection: its signals are in reports, and pinned connections are refused
    /// where its policy says so. The app runs the monitor's `run()` for the slower detectors.
    ///
    /// Two sources are asked, ``RuntimeIntegrity/IntegrityMonitor/check()`` and the conclusion of all looks so far: an
    /// attacker who silences one of them has not silenced the other.
    ///
    /// - Parameter monitor: The monitor. The client keeps it alive.
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
    /// Creates the result of an app's own checks, and says whether pinned connections are refused because of it.
    ///
    ///     configuration.runtimeEnvironment = { RuntimeEnvironment(refuses: isRunningInASandboxOfMine()) }
    ///
    /// - Parameters:
    ///   - signals: Names of signals: they are in reports of failures (formats.md, section 5).
    ///   - refuses: Whether pinned connections are refused, with the reason `tampering`.
    public init(signals: [String] = [], refuses: Bool) {
        self.init(signals: signals, refusal: refuses ? TamperingRefusal() : nil)
    }
}
