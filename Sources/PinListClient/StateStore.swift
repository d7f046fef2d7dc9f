// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinListMetadata

/// The store of a client's state. A protocol, so that tests can bring a disk that fails.
///
/// Every file is verified after it was read; a store is not trusted. Calls may block, and come one at a time.
public protocol StateStore: Sendable {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - maximumBytes: A longer file is ``StoredFile/damaged(_:)``, unread.
    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile

    /// Replaces a file atomically, and returns when it is on the disk.
    ///
    /// - Throws: ``StateStoreError``.
    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError)

    /// Runs a closure while no other process writes to this store.
    ///
    /// - Throws: ``StateStoreError`` when the lock cannot be had, or what `body` throws.
    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError)

    /// The digests of the log lists that are stored: the names of the files in `logs/` that are one, without their ending.
    /// Empty where the folder cannot be read.
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
    /// The state of refreshes.
    case state
    /// The 16 bytes of the installation id.
    case installationID
    /// The reports that wait to be sent.
    case reports
    /// A log list, by its digest.
    case logs(String)
    /// The list whose log list is in force, while that of the newest list is not there.
    case pinsNamingLogs

    /// The path within the folder.
    public var path: String {
        switch self {
        case .root(let version): "roots/\(version).json"
        case .pins: "pins.json"
        case .state: "state.json"
        case .installationID: "installation-id"
        case .reports: "reports/queue.json"
        case .logs(let digest): "logs/\(digest).json"
        case .pinsNamingLogs: "logs/pins.json"
        }
    }
}

/// The result of reading a file.
public enum StoredFile: Hashable, Sendable {
    /// There is no such file.
    case absent
    /// Its bytes.
    case bytes([UInt8])
    /// The file is damaged: too long, or not a plain file.
    case damaged(String)
    /// The file cannot be read now: a locked device, an error of the disk, no descriptors left.
    case unreadable(String)
}

/// The failure to store a file.
public struct StateStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The explanation, in one sentence without a full stop.
    public let reason: String
    /// Whether a file that is there cannot be read: then it is not replaced.
    let isUnreadable: Bool
    /// Whether a newer version of this library wrote a file: then nothing is written.
    let isNewer: Bool

    /// Creates a failure.
    public init(_ reason: String) {
        self.reason = reason
        self.isUnreadable = false
        self.isNewer = false
    }

    /// The failure to read a file that was to be replaced.
    init(unreadable finding: ListArchive.Finding) {
        self.reason = finding.detail
        self.isUnreadable = true
        self.isNewer = false
    }

    /// The failure to write where a newer version of this library keeps its state.
    init(newer file: StateFile) {
        self.reason = ListArchive.newer(file).detail
        self.isUnreadable = false
        self.isNewer = true
    }

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

    /// Stores the bytes.
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

    /// Removes a file.
    public func remove(_ file: StateFile) { self.lock.withLock { self.files[file] = nil } }

    /// Runs a closure while no other caller does.
    public func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        self.writing.lock()
        defer { self.writing.unlock() }
        try body()
    }
}

/// The location of a client's state.
public struct StateLocation: Sendable {
    private let makeStore: @Sendable (_ name: String) -> any StateStore

    /// A folder, which several processes may share; it is created with the first file.
    public static func folder(_ path: String) -> StateLocation { .store(StateFolder(path: path)) }

    /// In memory alone: each start begins with the shipped list. For short-lived tools and tests.
    public static var memory: StateLocation { .store(MemoryStore()) }

    /// A store of the app's own.
    public static func store(_ store: any StateStore) -> StateLocation { StateLocation { _ in store } }

    /// A store for each list.
    ///
    /// - Parameter makeStore: Receives the list's name, which is safe as the name of a folder:
    ///   `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    public init(_ makeStore: @escaping @Sendable (_ name: String) -> any StateStore) { self.makeStore = makeStore }

    /// The store of a list.
    func store(of name: String) -> any StateStore { self.makeStore(name) }
}

/// Reads the trust state of a client for tools: nothing is written, fetched or put in force.
@_spi(Tools)
public enum StoredTrust {
    /// The trust state of a client with this root and this folder.
    ///
    /// - Parameters:
    ///   - root: The envelope of the root that the app ships.
    ///   - state: The location of the client's state.
    /// - Returns: The trust state, and the findings about the files, a sentence each.
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

/// A store of the version mark outside the state folder, such as the Keychain, which survives deletion of the folder.
///
/// Calls may block. While a mark cannot be stored, the state folder alone bounds the next list.
public protocol VersionMarkStore: Sendable {
    /// The mark of a list, if there is one that can be read.
    func load(name: String) -> VersionMark?

    /// Stores a mark in place of the one before of the same name.
    ///
    /// - Throws: ``StateStoreError`` when it is not stored: the client sends an event, and tries again at each refresh.
    func save(_ mark: VersionMark) throws(StateStoreError)
}
