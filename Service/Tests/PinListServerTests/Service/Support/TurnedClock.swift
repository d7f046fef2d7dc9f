// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import PinListServer

@testable import PinListStore

/// A clock that stands until it is turned. Its uptime goes with it.
final class TurnedClock: ServiceClock {
    /// The time at which the stories begin: 2026-11-21T00:00:00Z.
    static let start = Timestamp(secondsSince1970: 1_795_219_200)

    private let seconds: NIOLockedValueBox<Int64>

    /// A clock that shows a time.
    init(_ time: Timestamp = TurnedClock.start) { self.seconds = NIOLockedValueBox(time.secondsSince1970) }

    var now: Timestamp { Timestamp(secondsSince1970: self.seconds.withLockedValue { $0 }) }

    var uptime: Double { Double(self.now.secondsSince1970 - 1_700_000_000) }

    /// Turns the clock.
    func turn(by seconds: Int64) { self.seconds.withLockedValue { $0 += seconds } }

    /// Sets the clock.
    func set(_ time: Timestamp) { self.seconds.withLockedValue { $0 = time.secondsSince1970 } }
}
