// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinListClient

/// A store on a disk with faults that a test chooses.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class FaultyStore: StateStore, @unchecked Sendable {
    /// A fault of the disk.
    public enum Fault: Hashable, Sendable {
        /// No file can be written: a full or read-only disk.
        case writing
        /// Files exist but cannot be read: a locked device, no descriptors.
        case reading
        /// Another process holds the lock.
        case locking
    }

    private let lock = NSLock()
    private let disk: any StateStore
    private var present: Set<Fault>
    private var written: [StateFile] = []

    /// Creates a store with some faults.
    public init(_ disk: any StateStore = MemoryStore(), faults: Set<Fault> = []) {
        self.disk = disk
        self.present = faults
    }

    /// The faults now.
    public var faults: Set<Fault> {
        get { self.lock.withLock { self.present } }
        set { self.lock.withLock { self.present = newValue } }
    }

    /// The files that were written, the first first.
    public var writes: [StateFile] { self.lock.withLock { self.written } }

    /// Reads, unless that does not work and the file is there.
    public func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        let stored = self.disk.read(file, maximumBytes: maximumBytes)
        guard self.faults.contains(.reading), stored != .absent else { return stored }
        return .unreadable("Input/output error")
    }

    /// Writes, unless that does not work.
    public func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) {
        guard !self.faults.contains(.writing) else { throw StateStoreError("No space left on device") }
        self.lock.withLock { self.written.append(file) }
        try self.disk.write(bytes, to: file)
    }

    /// The digests of the log lists on the disk.
    public func logDigests() -> [String] { self.disk.logDigests() }

    /// Removes, unless writing does not work.
    public func remove(_ file: StateFile) throws(StateStoreError) {
        guard !self.faults.contains(.writing) else { throw StateStoreError("Read-only file system") }
        try self.disk.remove(file)
    }

    /// Takes the lock, unless a fault prevents it.
    public func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        guard !self.faults.contains(.locking) else { throw StateStoreError("another process holds the lock") }
        try self.disk.withLock(body)
    }
}
