// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A store that ends with the process.
///
/// `@unchecked Sendable`: because its files are read and written under the lock only.
public final class MemoryStore: StateStore, @unchecked Sendable {
    private let lock = NSLock()
    private let writing = NSLock()
    private var files: [StateFile: [UInt8]] = [:]

    /// An empty store.
    public init() {}

    /// The bytes of a file, if there is one.
    public func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        self.lock.withLock {
            guard let bytes = self.files[file] else { return .absent }
            return bytes.count <= maximumBytes ? .bytes(bytes) : .damaged("it is over \(maximumBytes) bytes")
        }
    }

    /// Keeps the bytes.
    public func write(_ bytes: [UInt8], to file: StateFile) {
        self.lock.withLock { self.files[file] = bytes }
    }

    /// Runs something while nobody else does.
    public func withLock(_ body: () throws(StoreFailure) -> Void) throws(StoreFailure) {
        self.writing.lock()
        defer { self.writing.unlock() }
        try body()
    }
}
