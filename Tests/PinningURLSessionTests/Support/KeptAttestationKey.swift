// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient
import PinningURLSession

/// What the Keychain holds, and whether it is locked.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class KeptAttestationKey: AttestationKeyStore, @unchecked Sendable {
    private let lock = NSLock()
    private var kept: [UInt8]?
    private var isLocked = false

    func lockUp(_ isLocked: Bool) { self.lock.withLock { self.isLocked = isLocked } }

    func load() throws -> [UInt8]? {
        try self.lock.withLock {
            if self.isLocked { throw StateStoreError("locked") }
            return self.kept
        }
    }

    func save(_ bytes: [UInt8]?) throws {
        try self.lock.withLock {
            if self.isLocked { throw StateStoreError("locked") }
            self.kept = bytes
        }
    }
}
