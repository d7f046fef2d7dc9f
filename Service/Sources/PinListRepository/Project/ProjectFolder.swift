// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificateTransparency
public import Foundation
public import PinListMetadata

/// The folder that holds `tumbler.yaml`, the roots, the newest list and the keys (formats.md, section 9).
public struct ProjectFolder: Sendable {
    /// The name of the source.
    public static let sourceName = "tumbler.yaml"

    /// The name of the newest signed list.
    public static let listName = "pins.json"

    /// The name of the folder for the log lists that lists name, each by its digest.
    public static let logsName = "logs"

    /// The name of the folder for what concerns this machine alone; git is told to pass over it.
    public static let localName = ".tumbler"

    /// The folder.
    public let folder: URL

    /// The project in a folder, without looking whether there is one.
    public init(_ folder: URL) { self.folder = folder }

    /// The project that commands use: the named folder, else the nearest parent of the working directory with a
    /// `tumbler.yaml`, itself included.
    ///
    /// - Throws: ``RepositoryError`` of code `file` when there is none.
    public static func find(named: String?, from working: URL) throws(RepositoryError) -> ProjectFolder {
        func holdsSource(_ folder: URL) -> Bool {
            FileManager.default.fileExists(atPath: folder.appendingPathComponent(Self.sourceName).path)
        }
        if let named {
            let folder = URL(fileURLWithPath: named, isDirectory: true, relativeTo: working)
            guard holdsSource(folder) else {
                throw RepositoryError(
                    .file, "\(named): there is no \(Self.sourceName) in it", hint: "tumbler init makes a project folder"
                )
            }
            return ProjectFolder(folder)
        }
        var folder = working.standardizedFileURL
        while !holdsSource(folder) {
            let parent = folder.deletingLastPathComponent().standardizedFileURL
            guard parent.path != folder.path, parent.path.count < folder.path.count else {
                throw RepositoryError(
                    .file, "there is no \(Self.sourceName) here or in a folder above",
                    hint: "name the project folder with -C DIR, or make one with tumbler init")
            }
            folder = parent
        }
        return ProjectFolder(folder)
    }

    /// The source.
    public var source: URL { self.folder.appendingPathComponent(Self.sourceName) }

    /// The newest signed list.
    public var list: URL { self.folder.appendingPathComponent(Self.listName) }

    /// A signed root.
    public func root(_ version: Int) -> URL {
        self.folder.appendingPathComponent("root").appendingPathComponent("\(version).json")
    }

    /// The newest root; `nil` when there is none yet.
    ///
    /// - Throws: ``RepositoryError`` when one cannot be read, or does not follow from the first.
    public func newestRoot() throws(RepositoryError) -> Root? { try KnownList.chain(try self.roots())?.chain.newest }

    /// The envelopes of all roots, the first one first; none when there is no root yet.
    ///
    /// - Throws: ``RepositoryError`` when one cannot be read.
    public func roots() throws(RepositoryError) -> [[UInt8]] {
        var roots: [[UInt8]] = []
        while roots.count <= MetadataLimits.rotationsPerRefresh {
            let name = "root/\(roots.count + 1).json"
            guard FileManager.default.fileExists(atPath: self.root(roots.count + 1).path) else { break }
            do {
                roots.append(try DiskFiles(in: self.folder).bytes(of: name, limit: MetadataLimits().rootBytes))
            } catch {
                throw RepositoryError(.file, "\(name): \(error.reason)", hint: error.hint)
            }
        }
        return roots
    }

    /// The envelope of the newest list, or `nil` when there is none yet.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read.
    public func newestList() throws(RepositoryError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: self.list.path) else { return nil }
        do { return try DiskFiles(in: self.folder).bytes(of: Self.listName, limit: MetadataLimits().listBytes) } catch {
            throw RepositoryError(.file, "\(Self.listName): \(error.reason)", hint: error.hint)
        }
    }

    /// The name of the project's list, as its newest list says it; `nil` when there is none yet.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read.
    public func name() throws(RepositoryError) -> String? {
        guard let bytes = try self.newestList() else { return nil }
        return try KnownList(bytes, named: Self.listName, roots: []).list.name
    }

    /// Makes the folder for what concerns this machine alone, where there is none.
    ///
    /// - Throws: ``RepositoryError`` of code `file`.
    public func makeLocalFolder() throws(RepositoryError) {
        let ignore = self.folder.appendingPathComponent(Self.localName).appendingPathComponent(".gitignore")
        try Self.expectLocal(ignore)
        guard !FileManager.default.fileExists(atPath: ignore.path) else { return }
        try Self.write(Array("*\n".utf8), to: ignore)
    }

    /// Refuses a file for what concerns this machine alone, and its folder, where it is something else. Version control keeps
    /// links: a checkout of another person's must not lead a command that only looks to the other files of this user.
    ///
    /// - Parameter file: A file in the folder for this machine alone.
    /// - Throws: ``RepositoryError`` of code `file` for a link, wherever it leads, a pipe, or a folder in place of the file.
    package static func expectLocal(_ file: URL) throws(RepositoryError) {
        for (place, type) in [(file.deletingLastPathComponent(), S_IFDIR), (file, S_IFREG)] {
            var status = stat()
            guard lstat(place.path, &status) == 0, status.st_mode & S_IFMT != type else { continue }
            throw RepositoryError(
                .file,
                "\(place.path) is \(type == S_IFDIR ? "no folder" : "no file") of its own: a link or a pipe may lead out of the project",
                hint: "remove it; it is made anew")
        }
    }

    /// Replaces a file whole, or makes it, with the folders that it is in.
    ///
    /// - Throws: ``RepositoryError`` of code `file`; then the file is what it was.
    public static func write(_ bytes: [UInt8], to file: URL) throws(RepositoryError) {
        let folder = file.deletingLastPathComponent()
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw RepositoryError(
                .file, "\(folder.path) cannot be made", hint: "look at the rights of its folder, and at the disk")
        }
        try WrittenFile.write(bytes, to: file.path, .published, existing: .replaced)
    }
}

extension ProjectFolder {
    /// The log list that a list names: kept in `logs/`, or the file of `logs:` in the source.
    ///
    /// - Throws: ``RepositoryError`` when neither is that file.
    public func logs(_ listed: ListedLogs) throws(RepositoryError) -> [UInt8] {
        let disk = DiskFiles(in: self.folder)
        if let kept = try? disk.bytes(of: "\(Self.logsName)/\(listed.digest).json", limit: listed.length),
            listed.isFile(kept)
        {
            return kept
        }
        if let source = try? disk.bytes(of: Self.sourceName, limit: ListSource.maximumLength),
            let logs = try ListSource.logs(in: source, file: Self.sourceName, files: disk), logs.listed == listed
        {
            return logs.bytes
        }
        throw RepositoryError(
            .file,
            "the log list \(listed.digest) that the list names is neither in \(Self.logsName)/ nor the file of logs: in "
                + Self.sourceName,
            hint: "take it from version control, or release a list that names the log list of today")
    }

    /// The log list that policies are evaluated with: the one that a list names, else that of the source; `nil` where
    /// there is neither.
    ///
    /// - Throws: ``RepositoryError`` when it is not at hand, or cannot be read.
    public func logList(of list: PinList) throws(RepositoryError) -> IdentifiedLogs? {
        guard let listed = list.logs else { return try self.logListOfSource() }
        let bytes = try self.logs(listed)
        do throws(LogListError) { return IdentifiedLogs(digest: listed.digest, logs: try LogList(bytes)) } catch {
            throw RepositoryError(.metadata, "the log list that the list names cannot be read: \(error.reason)")
        }
    }

    /// The log list that the source names, for the next list; `nil` where it names none, or there is no source.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read.
    public func logListOfSource() throws(RepositoryError) -> IdentifiedLogs? {
        let disk = DiskFiles(in: self.folder)
        guard let source = try? disk.bytes(of: Self.sourceName, limit: ListSource.maximumLength),
            let logs = try ListSource.logs(in: source, file: Self.sourceName, files: disk)
        else { return nil }
        return IdentifiedLogs(digest: logs.listed.digest, logs: logs.logs)
    }

    /// Keeps the log list of a list: the next release may name another one, and this one is still asked for.
    ///
    /// - Throws: ``RepositoryError`` when it is not at hand, or cannot be written.
    public func keepLogs(of list: PinList) throws(RepositoryError) {
        guard let listed = list.logs else { return }
        let file = self.folder.appendingPathComponent(Self.logsName).appendingPathComponent("\(listed.digest).json")
        let bytes = try self.logs(listed)
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        try Self.write(bytes, to: file)
    }
}
