// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Foundation

/// What time it is. A parameter, so that tests choose.
package protocol ServiceClock: Sendable {
    /// Now, in whole seconds.
    var now: Timestamp { get }
    /// Seconds since some moment, never going back, for rates and limits.
    var uptime: Double { get }
}

/// The machine's clock.
package struct SystemServiceClock: ServiceClock {
    /// The machine's clock.
    package init() {}

    /// Now.
    package var now: Timestamp { Timestamp(roundingDown: Date().timeIntervalSince1970) }

    /// Since the machine was started.
    package var uptime: Double { ProcessInfo.processInfo.systemUptime }
}
