// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListServer

@testable import PinListStore

/// A clock on which a minute passes each time that it is read: no pause lasts.
///
/// `@unchecked Sendable`: because its one variable is read and written under the lock only.
final class HastyClock: ServiceClock, @unchecked Sendable {
    private let lock = NSLock()
    private var minutes = 0.0

    var now: Timestamp { Timestamp(secondsSince1970: 0) }

    var uptime: Double {
        self.lock.withLock {
            self.minutes += 1
            return self.minutes * 60
        }
    }
}
