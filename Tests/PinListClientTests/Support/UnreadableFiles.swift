// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient

/// A disk on which some files cannot be read for a time, where they are there.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class UnreadableFiles: StateStore, @unchecked Sendable {
    private let disk: any StateStore
    private let lock = NSLock()
    private var locked: Set<StateFile>
    private var written: [StateFile] = []
    private var readCount = 0

    init(_ disk: any StateStore, _ files: Set<StateFile> = []) { (self.disk, self.locked) = (disk, files) }

    /// The files that cannot be read now.
    var files: Set<StateFile> {
        get { self.lock.withLock { self.locked } }
        set { self.lock.withLock { self.locked = newValue } }
    }

    /// The files that were written, the first first.
    var writes: [StateFile] { self.lock.withLock { self.written } }

    /// The number of reads.
    var reads: Int { self.lock.withLock { self.readCount } }

    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        self.lock.withLock { self.readCount += 1 }
        let stored = self.disk.read(file, maximumBytes: maximumBytes)
        return self.files.contains(file) && stored != .absent ? .unreadable("Input/output error") : stored
    }

    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) {
        self.lock.withLock { self.written.append(file) }
        try self.disk.write(bytes, to: file)
    }

    func logDigests() -> [String] { self.disk.logDigests() }

    func remove(_ file: StateFile) throws(StateStoreError) { try self.disk.remove(file) }

    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) { try self.disk.withLock(body) }
}
