// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) public import PinListClient

extension Surroundings {
    /// States what an app's own checks noticed, and whether pinned connections are refused because of it.
    ///
    ///     configuration.surroundings = { Surroundings(refuses: isRunningInASandboxOfMine()) }
    ///
    /// - Parameters:
    ///   - signals: Names of signals: they go into reports of failures (formats.md, section 5).
    ///   - refuses: Whether pinned connections are refused, with the reason `tampering`.
    public init(signals: [String] = [], refuses: Bool) {
        self.init(signals: signals, refusal: refuses ? TamperingRefusal() : nil)
    }
}
