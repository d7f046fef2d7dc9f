// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: ``StoreFailure``.
    func write(_ bytes: [UInt8], to file: StateFile) throws(StoreFailure)

    /// Runs something while no other process writes to this store.
    ///
    /// - Throws: ``StoreFailure`` when the lock cannot be had, or what `body` throws.
    func withLock(_ body: () throws(StoreFailure) -> Void) throws(StoreFailure)
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

    /// The path within the folder.
    public var path: String {
        switch self {
        case .root(let version): "roots/\(version).json"
        case .pins: "pins.json"
        case .state: "state.json"
        case .installationID: "installation-id"
        case .reports: "reports/queue.json"
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
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, in one sentence without a full stop.
    public let reason: String

    /// States a failure.
    public init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { self.reason }
}
