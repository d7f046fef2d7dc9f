// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient

/// A store that ends with the process, and tells of what is written.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class WatchedStore: StateStore, @unchecked Sendable {
    private struct Watcher {
        let file: StateFile
        let isWanted: @Sendable ([UInt8]) -> Bool
        let wake: CheckedContinuation<Void, Never>
    }

    private let disk = MemoryStore()
    private let lock = NSLock()
    private var deeds: [StateFile: @Sendable () -> Void] = [:]
    private var watchers: [Watcher] = []

    /// Has something done once, while a file is written.
    func onWriting(_ file: StateFile, _ deed: @escaping @Sendable () -> Void) {
        self.lock.withLock { self.deeds[file] = deed }
    }

    /// Waits until a file holds something.
    func untilWritten(_ file: StateFile, _ isWanted: @escaping @Sendable ([UInt8]) -> Bool) async {
        await withCheckedContinuation { wake in
            let isThere = self.lock.withLock {
                if case .bytes(let bytes) = self.disk.read(file, maximumBytes: .max), isWanted(bytes) { return true }
                self.watchers.append(Watcher(file: file, isWanted: isWanted, wake: wake))
                return false
            }
            if isThere { wake.resume() }
        }
    }

    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        self.disk.read(file, maximumBytes: maximumBytes)
    }

    func write(_ bytes: [UInt8], to file: StateFile) {
        if let deed = self.lock.withLock({ self.deeds.removeValue(forKey: file) }) { deed() }
        let due = self.lock.withLock {
            self.disk.write(bytes, to: file)
            let due = self.watchers.filter { $0.file == file && $0.isWanted(bytes) }
            self.watchers.removeAll { $0.file == file && $0.isWanted(bytes) }
            return due
        }
        for watcher in due { watcher.wake.resume() }
    }

    func logDigests() -> [String] { self.disk.logDigests() }

    func remove(_ file: StateFile) { self.disk.remove(file) }

    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) { try self.disk.withLock(body) }
}
