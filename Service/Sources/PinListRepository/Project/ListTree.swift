// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import Foundation
public import PinListMetadata

/// The tree of a static host: `v1/lists/{name}/pins.json` and `root/{n}.json` (formats.md, section 7).
public struct ListTree: Sendable {
    /// A file of the tree.
    public struct File: Hashable, Sendable {
        /// Its path in the tree.
        public let path: String
        /// The content: an envelope, byte for byte.
        public let bytes: [UInt8]
    }

    /// The files in the order in which they are written: the log list before the list, the list before the roots. A client that sees a new root asks
    /// for a list that is signed under it, and finds it.
    public let files: [File]

    /// The path of the list's base: `v1/lists/{name}`.
    private let base: String

    /// The list's envelope.
    private let list: [UInt8]

    /// The list, and the roots that clients follow to it.
    private let state: TrustState

    /// The tree of a project's roots and newest list, verified as a client will.
    ///
    /// - Parameters:
    ///   - roots: The envelopes, the first one first.
    ///   - list: The envelope of the newest list.
    ///   - logs: Gives the log list that the list names. It comes first: a client that sees the list asks for it.
    /// - Throws: ``RepositoryError`` of code `metadata` when a client would not take them.
    public init(
        roots: [[UInt8]], list: [UInt8], logs: (ListedLogs) throws(RepositoryError) -> [UInt8] = Self.noLogs
    ) throws(RepositoryError) {
        guard let state = try KnownList.chain(roots) else {
            throw RepositoryError(.metadata, "there is no root", hint: "tumbler root new makes the first one")
        }
        let known = try KnownList(list, named: ProjectFolder.listName, roots: roots)
        guard known.isVerified else {
            throw RepositoryError(.metadata, "\(ProjectFolder.listName) is not signed", hint: "tumbler sign signs it")
        }
        // The list must hold under the newest root: with a superseded one clients would wait for another.
        var current = state
        do throws(MetadataError) {
            try current.load(list: list)
        } catch {
            throw RepositoryError(.metadata, "\(ProjectFolder.listName): \(error.description)")
        }
        guard current.outside?.status == .current else {
            throw RepositoryError(
                .metadata,
                "\(ProjectFolder.listName) is not signed under root \(state.chain.newest.version), or issued "
                    + "before it took a key away",
                hint: "sign a list with the keys of the newest root first")
        }
        // A hybrid demand moves nothing that is held, and yet those who make it take no list without its signatures.
        if let envelope = try? Envelope(list, of: .pins, limits: MetadataLimits()) {
            let newest = state.chain.newest
            for demand in SignatureDemand.all(.pins, of: newest) where demand.isMadeHere {
                guard demand.missing(in: envelope) > 0 else { continue }
                throw RepositoryError(
                    .metadata,
                    "\(ProjectFolder.listName) lacks signatures of the hybrid demand of root \(newest.version): clients "
                        + "that make it would refuse the list",
                    hint: "tumbler sign \(ProjectFolder.listName) with these keys, and publish it before the root")
            }
        }
        let base = "v1/lists/\(known.list.name)"
        (self.base, self.list, self.state) = (base, list, current)
        let logFiles = try known.list.logs.map { listed throws(RepositoryError) in
            [File(path: base + listed.path, bytes: try logs(listed))]
        }
        self.files =
            (logFiles ?? []) + [File(path: "\(base)/pins.json", bytes: list)]
            + state.chain.held.map { File(path: "\(base)/root/\($0.root.version).json", bytes: $0.bytes) }
    }

    /// For lists that name no log list.
    public static func noLogs(_ listed: ListedLogs) throws(RepositoryError) -> [UInt8] {
        throw RepositoryError(.file, "the log list \(listed.digest) that the list names is missing")
    }

    /// Refuses a folder with another root of a version, with a root that comes after the newest one here, with a newer list, or with
    /// another list of this version: clients that got these refuse what would be written. A list that does not count under the newest
    /// root bounds nothing; so a checkout without the newest root must not go on to look at lists.
    ///
    /// - Parameter folder: The folder that is served.
    /// - Throws: ``RepositoryError`` of code `metadata`.
    func expectRoom(in folder: URL) throws(RepositoryError) {
        let disk = DiskFiles(in: folder)
        let limits = MetadataLimits()
        for file in self.files where file.path.contains("/root/") {
            guard FileManager.default.fileExists(atPath: folder.appendingPathComponent(file.path).path) else {
                continue
            }
            let held = try? disk.bytes(of: file.path, limit: limits.rootBytes)
            guard held == file.bytes else {
                throw RepositoryError(
                    .metadata, "\(file.path) in \(folder.path) is another root", hint: "a root is never rewritten")
            }
        }
        let newest = self.state.chain.newest.version
        let next = "\(self.base)/root/\(newest + 1).json"
        guard !FileManager.default.fileExists(atPath: folder.appendingPathComponent(next).path) else {
            throw RepositoryError(
                .metadata,
                "\(next) in \(folder.path) is a root that this checkout does not have: it ends at root \(newest), and clients that "
                    + "follow the next one may refuse this list",
                hint: "bring this checkout up to date, and release the next version; if none of you made that root: "
                    + "docs/operations/lost-root-keys.md")
        }
        let path = "\(self.base)/\(ProjectFolder.listName)"
        var there = self.state
        guard let bytes = try? disk.bytes(of: path, limit: limits.listBytes), bytes != self.list,
            (try? there.load(list: bytes)) != nil, let held = there.outside, held.status == .current,
            let own = self.state.outside?.list
        else { return }
        guard held.list.version <= own.version else {
            throw RepositoryError(
                .metadata,
                "\(path) in \(folder.path) is version \(held.list.version), and this list is version \(own.version): clients "
                    + "refuse an older list",
                hint: Self.hint(held))
        }
        guard held.list.version < own.version || held.list.payload == own.payload else {
            throw RepositoryError(
                .metadata, "\(path) in \(folder.path) is another list of version \(own.version)", hint: Self.hint(held))
        }
    }

    private static func hint(_ held: HeldList) -> String {
        "did one of you make it, on \(held.list.issuedAt)? Then bring this checkout up to date, and release the next version; "
            + "else docs/operations/stolen-pins-key.md"
    }

    /// Writes the tree into a folder, each file whole or not at all. Roots that are there already are never rewritten.
    ///
    /// - Parameters:
    ///   - folder: The folder that is served.
    ///   - byDigest: Whether the list is also there under its digest (``ListByDigest``). Where it is once, it stays so.
    /// - Throws: ``RepositoryError`` of code `file`, or `metadata` when a root there is another one, or the list is one that clients
    ///   would refuse for this one; then nothing was written.
    public func write(to folder: URL, byDigest: Bool = false) throws(RepositoryError) {
        try self.expectRoom(in: folder)
        let disk = DiskFiles(in: folder)
        let limits = MetadataLimits()
        for file in self.files {
            let place = folder.appendingPathComponent(file.path)
            if (try? disk.bytes(of: file.path, limit: limits.listBytes)) == file.bytes { continue }
            try ProjectFolder.write(file.bytes, to: place)
        }
        let place = ListByDigest(in: folder.appendingPathComponent(self.base))
        if byDigest || place.isThere { try place.write(self.list) }
    }
}

/// The files of a folder on the disk.
public struct DiskFiles: SourceFiles {
    /// The folder that relative paths begin in.
    public let folder: URL

    /// The files of a folder.
    public init(in folder: URL) { self.folder = folder }

    /// Reads a file whole.
    public func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
        let file = path.hasPrefix("/") ? URL(fileURLWithPath: path) : self.folder.appendingPathComponent(path)
        let bytes = try BoundedFile.bytes(of: file.path, maximum: limit)
        guard bytes.count <= limit else { throw RepositoryError(.file, "over \(limit) bytes") }
        return bytes
    }
}

extension ProjectFolder {
    /// The tree of a list with the roots and the log list of the project.
    ///
    /// - Parameter list: The list's envelope.
    /// - Throws: ``RepositoryError`` when a client would not take it, or a file is missing.
    public func tree(of list: [UInt8]) throws(RepositoryError) -> ListTree {
        try ListTree(roots: try self.roots(), list: list) { listed throws(RepositoryError) in try self.logs(listed) }
    }
}
