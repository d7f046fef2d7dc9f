// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
public import PinListMetadata

/// The lists of a project that went out, and when: `lists/{version}.json` and `lists/published.jsonl` (formats.md,
/// section 9). Both are committed with the source. Neither is ever rewritten: files come, and lines are added.
///
/// Times of files are not used: a checkout has none that mean anything.
public struct ListHistory: Sendable {
    /// The folder in the project.
    static let folderName = "lists"

    /// The file with the times.
    static let recordsName = "lists/published.jsonl"

    /// The file that says how lists of this project go out, once one was exported.
    private static let exportedName = "lists/exported"

    /// The maximum number of bytes of the file with the times: 80,000 lists.
    static let maximumLength = 8 << 20

    /// The publications with their times, in the order in which they were written.
    public let records: [PublicationRecord]

    /// The digests that ``records`` have of each version.
    let digests: [Int64: Set<String>]

    /// The versions whose list is kept.
    let keptVersions: Set<Int64>

    private let project: ProjectFolder?

    /// Reads what a project remembers; nothing where it remembers nothing, or where there is none.
    ///
    /// - Throws: ``RepositoryError`` when the folder or the file with the times cannot be read, or has a line that is none.
    public init(of project: ProjectFolder?) throws(RepositoryError) {
        self.project = project
        self.records = try project.map { project throws(RepositoryError) in try Self.records(of: project) } ?? []
        self.digests = self.records.reduce(into: [:]) { $0[$1.version, default: []].insert($1.digest) }
        let names = try project.map { project throws(RepositoryError) in try Self.names(in: project) } ?? []
        self.keptVersions = Set(names.compactMap(Self.version))
    }

    /// The files that are kept; none where there is no folder. One that is there and cannot be read is an error: it may
    /// hold the list that refuses.
    private static func names(in project: ProjectFolder) throws(RepositoryError) -> [String] {
        let folder = project.folder.appendingPathComponent(self.folderName)
        do { return try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
            throw RepositoryError(
                .file, "\(self.folderName) cannot be read", hint: "it is a folder that you must be allowed to read")
        }
    }

    /// Whether a list of a project was ever written into the folder of a static host. Then that puts lists out: `pins.json` alone is
    /// what nobody gets.
    package static func isExported(_ project: ProjectFolder) -> Bool {
        FileManager.default.fileExists(atPath: project.folder.appendingPathComponent(self.exportedName).path)
    }

    /// Writes down that a list of a project was exported.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be written.
    package static func noteExport(in project: ProjectFolder) throws(RepositoryError) {
        guard !self.isExported(project) else { return }
        try WrittenFile.write(
            Array("Lists of this project are out when tumbler wrote them into a folder (export, --export).\n".utf8),
            to: project.folder.appendingPathComponent(self.exportedName).path, .published, existing: .kept)
    }

    /// The list of a version; `nil` when it is not kept.
    ///
    /// - Throws: ``RepositoryError`` when the file cannot be read, or is another list.
    func list(_ version: Int64) throws(RepositoryError) -> PinList? { try self.kept(version)?.list }

    /// The list of a version that went out: the kept one, or that of `pins.json`, when a record has its digest. What is kept of a
    /// version may be another list than the one that went out, from another checkout.
    ///
    /// - Throws: ``RepositoryError`` when a file cannot be read, or is another list.
    func publishedList(_ version: Int64) throws(RepositoryError) -> PinList? {
        guard let digests = self.digests[version] else { return nil }
        if let kept = try self.kept(version), digests.contains(kept.digest) { return kept.list }
        guard let newest = try self.project?.newestList(), digests.contains(Envelope.digest(of: newest)) else {
            return nil
        }
        return try KnownList(newest, named: ProjectFolder.listName, roots: []).list
    }

    /// The newest list that went out; `nil` where none did, or it is not at hand.
    ///
    /// - Throws: ``RepositoryError`` when a file cannot be read, or is another list.
    package func newestPublishedList() throws(RepositoryError) -> PinList? {
        guard let newest = self.digests.keys.max() else { return nil }
        return try self.publishedList(newest)
    }

    private func kept(_ version: Int64) throws(RepositoryError) -> (list: PinList, digest: String)? {
        guard let project, self.keptVersions.contains(version),
            let bytes = try Self.bytes(Self.name(version), in: project)
        else { return nil }
        let name = Self.name(version)
        // A list that is committed beside the source is believed as the source is: it is neither signed nor served from
        // here.
        let list = try KnownList(bytes, named: name, roots: []).list
        guard list.version == version else {
            throw RepositoryError(
                .metadata, "\(name) is a list of version \(list.version)", hint: "restore the file from version control"
            )
        }
        return (list, Envelope.digest(of: bytes))
    }

    /// The newest kept list below a version; `nil` when there is none that can be read.
    public func newestList(below version: Int64) -> PinList? {
        guard let newest = self.keptVersions.filter({ $0 < version }).max() else { return nil }
        return (try? self.list(newest)) ?? nil
    }

    /// Keeps a signed list.
    ///
    /// - Parameters:
    ///   - envelope: Its envelope.
    ///   - project: The project folder.
    ///   - time: The time of publication; `nil` when it is signed and not yet published.
    /// - Throws: ``RepositoryError`` when another list of that version is kept, or nothing can be written.
    public static func keep(
        _ envelope: [UInt8], in project: ProjectFolder, publishedAt time: Timestamp?
    ) throws(RepositoryError) {
        let list = try KnownList(envelope, named: ProjectFolder.listName, roots: []).list
        let name = Self.name(list.version)
        if try Self.expectRoom(for: list, in: project) {
            let file = project.folder.appendingPathComponent(name)
            do {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            } catch {
                throw RepositoryError(
                    .file, "\(Self.folderName) cannot be made",
                    hint: "look at the rights of the folder, and at the disk")
            }
            try WrittenFile.write(envelope, to: file.path, .published, existing: .kept)
        }
        // A list of before may name one that is nowhere any more; what goes out needs it, and says so.
        try? project.keepLogs(of: list)
        guard let time else { return }
        try Self.record(envelope, of: list, in: project, at: time)
        // The kept file may have fewer signatures. It is the same list, and so it is known to have gone out.
        if let kept = try Self.bytes(name, in: project), kept != envelope {
            try Self.record(kept, of: list, in: project, at: time)
        }
    }

    /// Writes down that a list went out. No list is out before it is issued, whatever a clock says.
    private static func record(
        _ envelope: [UInt8], of list: PinList, in project: ProjectFolder, at time: Timestamp
    ) throws(RepositoryError) {
        let digest = Envelope.digest(of: envelope)
        try self.add(
            PublicationRecord(version: list.version, digest: digest, at: max(time, list.issuedAt)), in: project)
    }

    /// Keeps a list that another checkout published, as a service serves it. Where another list of its version is kept, it is written
    /// down that this one went out: then what is kept does not pass for it.
    ///
    /// - Throws: ``RepositoryError`` as ``keep(_:in:publishedAt:)``.
    static func keep(served envelope: [UInt8], in project: ProjectFolder, at time: Timestamp) throws(RepositoryError) {
        do throws(RepositoryError) { try self.keep(envelope, in: project, publishedAt: nil) } catch {
            if let list = try? KnownList(envelope, named: ProjectFolder.listName, roots: []).list {
                try? self.record(envelope, of: list, in: project, at: time)
            }
            throw error
        }
    }

    /// Removes the file of a list that went nowhere, where there is one.
    static func remove(_ version: Int64, in project: ProjectFolder) throws {
        let file = project.folder.appendingPathComponent(self.name(version))
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        try FileManager.default.removeItem(at: file)
    }

    /// Checks that a list may go out at a time: none goes out before an older one did. By such a date the older one would count as
    /// replaced before it was, and nobody as holding it. What went out already may go out again at any time.
    ///
    /// - Parameters:
    ///   - envelope: The envelope of the list.
    ///   - time: The time of publication.
    /// - Throws: ``RepositoryError`` of code `metadata`.
    package func expectTurn(of envelope: [UInt8], at time: Timestamp) throws(RepositoryError) {
        let list = try KnownList(envelope, named: ProjectFolder.listName, roots: []).list
        let digest = Envelope.digest(of: envelope)
        guard !self.records.contains(where: { $0.version == list.version && $0.digest == digest }) else { return }
        try self.expectTurn(of: list, at: time)
    }

    /// The same of a list that is not signed yet.
    func expectTurn(of list: PinList, at time: Timestamp) throws(RepositoryError) {
        let older = self.records.filter { $0.version < list.version }
        guard let last = older.max(by: { $0.at < $1.at }), max(time, list.issuedAt) < last.at else { return }
        throw RepositoryError(
            .metadata,
            "it is \(time) here, and version \(last.version) went out at \(last.at) by \(Self.recordsName): a clock is wrong",
            hint:
                "set the clock of this machine, or name the time with --at; where that line is wrong, correct its time")
    }

    /// Checks that a list may be kept: a version is signed once.
    ///
    /// - Returns: Whether its file is still to be written. With more signatures the list is the same.
    /// - Throws: ``RepositoryError`` of code `metadata` when another list of that version is kept.
    @discardableResult
    public static func expectRoom(for list: PinList, in project: ProjectFolder) throws(RepositoryError) -> Bool {
        let name = Self.name(list.version)
        guard let held = try Self.bytes(name, in: project) else { return true }
        guard let other = try? KnownList(held, named: name, roots: []).list, other.payload == list.payload else {
            throw RepositoryError(
                .metadata, "\(name) is another list of version \(list.version), and is never rewritten",
                hint: "two lists of one version look like an attack: build the next version, or remove \(name) when "
                    + "that list was never published")
        }
        return false
    }

    /// Adds a line, unless the same list is in the file already.
    private static func add(_ record: PublicationRecord, in project: ProjectFolder) throws(RepositoryError) {
        let before = try self.records(of: project)
        guard !before.contains(where: { $0.version == record.version && $0.digest == record.digest }) else { return }
        var bytes = try self.bytes(self.recordsName, in: project) ?? []
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        bytes += record.line + [UInt8(ascii: "\n")]
        guard bytes.count <= self.maximumLength else {
            throw RepositoryError(
                .file, "\(self.recordsName): over \(self.maximumLength) bytes",
                hint: "its oldest lines may go: only those of the last propagation are needed")
        }
        try ProjectFolder.write(bytes, to: project.folder.appendingPathComponent(self.recordsName))
    }

    private static func records(of project: ProjectFolder) throws(RepositoryError) -> [PublicationRecord] {
        guard let bytes = try self.bytes(self.recordsName, in: project) else { return [] }
        var records: [PublicationRecord] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ [0x20, 0x09, 0x0d].contains($0) }) {
            guard let record = PublicationRecord(line: Array(line)) else {
                throw RepositoryError(
                    .metadata, "\(self.recordsName):\(index + 1): no line with version, digest and at",
                    hint: "restore the file from version control")
            }
            records.append(record)
        }
        return records
    }

    private static func bytes(_ name: String, in project: ProjectFolder) throws(RepositoryError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: project.folder.appendingPathComponent(name).path) else {
            return nil
        }
        let limit = name == self.recordsName ? self.maximumLength : MetadataLimits().listBytes
        do { return try DiskFiles(in: project.folder).bytes(of: name, limit: limit) } catch {
            throw RepositoryError(.file, "\(name): \(error.reason)", hint: error.hint)
        }
    }

    static func name(_ version: Int64) -> String { "\(self.folderName)/\(version).json" }

    private static func version(_ name: String) -> Int64? {
        guard name.hasSuffix(".json"), let version = Int64(name.dropLast(5)), version >= 1,
            name == "\(version).json"
        else { return nil }
        return version
    }
}
