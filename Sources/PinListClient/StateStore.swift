// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinListMetadata

/// Where a client keeps what it must not forget. A protocol, so that tests can bring a disk that fails.
///
/// Every file is verified after it was read; a store is not trusted. Calls may block, and come one at a time.
public protocol StateStore: Sendable {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - file: Which one.
    ///   - maximumBytes: A longer file is ``StoredFile/damaged(_:)``, unread.
    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile

    /// Replaces a file whole or not at all, whatever happens meanwhile, and returns when it is safe.
    ///
    /// - Throws: ``StateStoreError``.
    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError)

    /// Runs something while no other process writes to this store.
    ///
    /// - Throws: ``StateStoreError`` when the lock cannot be had, or what `body` throws.
    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError)

    /// The digests of the log lists that are stored: the names of the files in `logs/`, without their ending. Empty where
    /// that cannot be said.
    func logDigests() -> [String]

    /// Removes a file; nothing happens where there is none.
    ///
    /// - Throws: ``StateStoreError``.
    func remove(_ file: StateFile) throws(StateStoreError)
}

/// The files of a store (formats.md, section 6).
public enum StateFile: Hashable, Sendable {
    /// A root after the shipped one, by its version.
    case root(Int64)
    /// The newest list.
    case pins
    /// When it was refreshed last.
    case state
    /// The 16 bytes that tell one installation from another.
    case installationID
    /// The reports that wait to be sent.
    case reports
    /// A log list, by its digest.
    case logs(String)

    /// The path within the folder.
    public var path: String {
        switch self {
        case .root(let version): "roots/\(version).json"
        case .pins: "pins.json"
        case .state: "state.json"
        case .installationID: "installation-id"
        case .reports: "reports/queue.json"
        case .logs(let digest): "logs/\(digest).json"
        }
    }
}

/// What reading a file came to.
public enum StoredFile: Hashable, Sendable {
    /// There is none.
    case absent
    /// Its bytes.
    case bytes([UInt8])
    /// It is there, and cannot be what was written: too long, or no file.
    case damaged(String)
    /// It is there, and cannot be read now: a locked device, an error of the disk, no descriptors left.
    case unreadable(String)
}

/// Why something was not stored.
public struct StateStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, in one sentence without a full stop.
    public let reason: String

    /// States a failure.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { self.reason }
}

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

    /// The digests of the log lists that are kept.
    public func logDigests() -> [String] {
        self.lock.withLock {
            self.files.keys.compactMap { file in
                if case .logs(let digest) = file { return digest }
                return nil
            }
        }
    }

    /// Keeps the bytes of a file no longer.
    public func remove(_ file: StateFile) { self.lock.withLock { self.files[file] = nil } }

    /// Runs something while nobody else does.
    public func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        self.writing.lock()
        defer { self.writing.unlock() }
        try body()
    }
}

/// Where a client keeps its state.
public struct StateLocation: Sendable {
    private let makeStore: @Sendable (_ name: String) -> any StateStore

    /// A folder, which may be shared by several processes; it is made when something is first written.
    public static func folder(_ path: String) -> StateLocation { .store(StateFolder(path: path)) }

    /// Nowhere: each start begins with the shipped list. For short-lived tools and tests.
    public static var memory: StateLocation { .store(MemoryStore()) }

    /// A store of the app's own.
    public static func store(_ store: any StateStore) -> StateLocation { StateLocation { _ in store } }

    /// A store for each list.
    ///
    /// - Parameter makeStore: Is given the list's name, which may name a folder: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    public init(_ makeStore: @escaping @Sendable (_ name: String) -> any StateStore) { self.makeStore = makeStore }

    /// The store of a list.
    func store(of name: String) -> any StateStore { self.makeStore(name) }
}

/// Reads what a client trusts without being one: nothing is written, fetched or put in force.
@_spi(Tools)
public enum StoredTrust {
    /// What is trusted by a client with this root and this state.
    ///
    /// - Parameters:
    ///   - root: The envelope of the root that the app ships.
    ///   - state: Where the client keeps its state.
    /// - Returns: What is trusted, and what was found wrong in the state, a sentence each.
    /// - Throws: ``MetadataError`` when the root does not verify.
    public static func load(
        root: [UInt8], state: StateLocation
    ) throws(MetadataError) -> (trust: TrustState, findings: [String]) {
        var trust = try TrustState(bundledRoot: root, bundledList: nil)
        let archive = ListArchive(store: state.store(of: trust.chain.newest.name), limits: MetadataLimits())
        let findings = archive.load(into: &trust)
        return (trust, findings.map(\.detail))
    }
}

/// Keeps the highest version outside the state folder, where deleting the folder does not reach it: a Keychain, say.
///
/// Calls may block. What cannot be kept is as if there were no mark: the state folder alone bounds the next list then.
public protocol VersionMarkStore: Sendable {
    /// The mark of a list, if one is kept and can be read.
    func load(name: String) -> VersionMark?

    /// Keeps a mark in place of the one before of the same name.
    func save(_ mark: VersionMark)
}
