// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListServer

@testable import PinListStore

/// A clock that stands until it is set.
///
/// `@unchecked Sendable`: because its one variable is read and written under the lock only.
final class SetClock: ServiceClock, @unchecked Sendable {
    private let lock = NSLock()
    private var seconds = 0.0

    var now: Timestamp { Timestamp(secondsSince1970: 0) }

    var uptime: Double {
        get { self.lock.withLock { self.seconds } }
        set { self.lock.withLock { self.seconds = newValue } }
    }
}
