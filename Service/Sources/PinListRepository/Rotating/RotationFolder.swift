// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
public import PinRotation

/// The plans of a project: `rotations/HOST.yaml`, one for each noted hostname (formats.md, section 9).
public struct RotationFolder: Sendable {
    /// A plan as it was read.
    public struct Entry: Sendable {
        /// The plan.
        public let plan: RotationPlan
        /// Its file, byte for byte.
        public let bytes: [UInt8]
    }

    /// The name of the folder.
    public static let name = "rotations"

    /// The maximum number of plans that are read: as many as a list has entries.
    private static let maximum = RotationPlan.maximumEntries

    private let project: ProjectFolder

    /// The plans of a project.
    public init(of project: ProjectFolder) { self.project = project }

    /// The path of a plan, from the project folder.
    public static func path(of host: HostName) -> String { "\(Self.name)/\(host).yaml" }

    private func file(of host: HostName) -> URL { self.project.folder.appendingPathComponent(Self.path(of: host)) }

    /// The plan of a host; `nil` when there is none.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read.
    public func plan(of host: HostName) throws(RepositoryError) -> Entry? {
        guard try self.hasPlan(of: host) else { return nil }
        let path = Self.path(of: host)
        let bytes = try self.bytes(of: path)
        let plan = try RotationPlan(yaml: bytes, file: path)
        guard plan.host == host else {
            throw RepositoryError(
                .source, "\(path) is the plan of \(plan.host)", hint: "rename it to \(Self.path(of: plan.host))")
        }
        return Entry(plan: plan, bytes: bytes)
    }

    /// Whether there is a file. What is no file of its own is refused: a pipe would be waited for, and a link leads out
    /// of the project.
    private func hasPlan(of host: HostName) throws(RepositoryError) -> Bool {
        let path = Self.path(of: host)
        let type: FileAttributeType?
        do {
            // Of a link itself, and not of where it leads.
            let attributes = try FileManager.default.attributesOfItem(atPath: self.file(of: host).path)
            type = attributes[.type] as? FileAttributeType
        } catch let error as CocoaError where [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) {
            return false
        } catch {
            throw RepositoryError(.file, "\(path) cannot be looked at", hint: "look at the rights of \(Self.name)")
        }
        guard type == .typeRegular else {
            throw RepositoryError(
                .file, "\(path) is not a regular file", hint: "put the plan there, and no link, folder or pipe")
        }
        return true
    }

    /// All plans, by host.
    ///
    /// - Throws: ``RepositoryError`` when one cannot be read.
    public func plans() throws(RepositoryError) -> [Entry] {
        let folder = self.project.folder.appendingPathComponent(Self.name)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            throw RepositoryError(
                .file, "\(Self.name) cannot be read", hint: "it is a folder of the project, with a plan for each host")
        }
        let hosts = names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted()
        guard hosts.count <= Self.maximum else {
            throw RepositoryError(
                .file, "\(Self.name) has over \(Self.maximum) plans", hint: "remove those that are done")
        }
        var entries: [Entry] = []
        for name in hosts {
            let text = String(name.dropLast(".yaml".count))
            guard let host = try? HostName(text), host.description == text else {
                throw RepositoryError(
                    .source, "\(Self.name)/\(PrintableText.line(name)) is named for no host",
                    hint: "name it HOST.yaml, or move it out of \(Self.name)")
            }
            if let entry = try self.plan(of: host) { entries.append(entry) }
        }
        return entries
    }

    /// Writes a plan in place of the one that was read.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - entry: The entry that was read before; `nil` when there was none.
    /// - Throws: ``RepositoryError`` when the file is another one by now; then nothing is written.
    public func write(_ plan: RotationPlan, replacing entry: Entry?) throws(RepositoryError) {
        let path = Self.path(of: plan.host)
        let file = self.file(of: plan.host)
        if let entry {
            guard try self.bytes(of: path) == entry.bytes else {
                throw RepositoryError(
                    .source, "another process changed \(path) meanwhile",
                    hint: "tumbler rotate status \(plan.host)")
            }
            try ProjectFolder.write(plan.yaml, to: file)
        } else {
            do {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            } catch {
                throw RepositoryError(.file, "\(Self.name) cannot be made", hint: "look at the rights of the project")
            }
            try WrittenFile.write(plan.yaml, to: file.path, .published, existing: .kept)
        }
    }

    private func bytes(of path: String) throws(RepositoryError) -> [UInt8] {
        do {
            return try DiskFiles(in: self.project.folder).bytes(of: path, limit: RotationPlan.maximumLength)
        } catch {
            throw RepositoryError(error.code, "\(path): \(error.reason)", hint: error.hint)
        }
    }
}

/// The lock by which one command at a time takes steps of rotations in a project folder. The system lets go of it when
/// the process ends, however it ends.
public struct RotationLock: ~Copyable, Sendable {
    /// The file that is locked, in the project folder.
    private static let path = "\(ProjectFolder.localName)/rotate.lock"

    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: ``RepositoryError`` of the code `source` when another process has it, and `file` when it cannot be made.
    public init(_ project: ProjectFolder) throws(RepositoryError) {
        try project.makeLocalFolder()
        let file = project.folder.appendingPathComponent(Self.path)
        try ProjectFolder.expectLocal(file)
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else {
            throw RepositoryError(.file, "\(Self.path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw isTaken
                ? RepositoryError(
                    .source, "another tumbler rotate is at work in this folder",
                    hint: "wait for its end, then tumbler rotate status")
                : RepositoryError(.file, "\(Self.path) cannot be locked: \(reason)")
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }
}
