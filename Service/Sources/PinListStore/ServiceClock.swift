// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Foundation

/// The clock of the service. A parameter, so that tests choose.
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

    /// The time since the machine was started, in seconds.
    package var uptime: Double { ProcessInfo.processInfo.systemUptime }
}
