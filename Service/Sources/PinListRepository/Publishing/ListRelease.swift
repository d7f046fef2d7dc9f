// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import Foundation
public import PinListMetadata

/// The way from `tumbler.yaml` to what clients get: a list is built, linted, signed, checked as a client does, published
/// and kept, in this order.
///
/// Nothing is written before ``publish(_:isOut:exportTo:)``, and each step throws before the next one begins. Looking at
/// hosts, asking people and talking to a service are the caller's: the command line releases so, and other programs can.
///
/// ```
/// let release = try ListRelease(source, in: project, to: destination, at: now)
/// var linter = try release.linter()
/// guard linter.findings.allSatisfy({ $0.rule.severity != .error }) else { … }
/// let envelope = try await release.signed(by: signers)
/// let outcome = try await release.publish(envelope, isOut: true)
/// ```
public struct ListRelease: Sendable {
    /// The outcome of a release.
    public struct Outcome: Sendable {
        /// The changes at the destination; `nil` without one.
        public let changes: [String]?
        /// The defects that did not stop the release, in a sentence each: an older list could not be kept.
        public let notes: [String]
    }

    /// The list that is released.
    public let list: PinList

    /// Its payload, to be signed.
    public let metadata: SignableMetadata

    /// The list of `pins.json` before this release; `nil` when there is none.
    public let listOfProject: PinList?

    /// The list that clients have: the destination's, or that of `pins.json` where the destination has none. `nil` when
    /// nothing is published yet.
    public let published: PinList?

    /// The list that the destination serves, where the project has neither it nor a later one that followed it.
    private let unseen: PinList?

    private let source: ListSource
    private let project: ProjectFolder
    private let destination: (any ReleaseDestination)?
    private let time: Timestamp

    /// Builds the list that comes after every list that counts.
    ///
    /// - Parameters:
    ///   - source: What people wrote.
    ///   - project: Where it stands, with the roots and the lists so far.
    ///   - destination: Where lists are published; `nil` when that is done elsewhere.
    ///   - time: When the list is issued.
    /// - Throws: ``RepositoryError`` when no list can be built, another one of its version is kept, or an older one is dated after
    ///   `time`.
    public init(
        _ source: ListSource, in project: ProjectFolder, to destination: (any ReleaseDestination)?, at time: Timestamp
    ) throws(RepositoryError) {
        self.source = source
        self.project = project
        self.destination = destination
        self.time = time
        self.listOfProject = try project.publishedList()
        // What clients have is what the destination serves; the next version comes after every list that counts.
        self.published = destination?.current ?? self.listOfProject
        self.unseen = try Self.unseen(destination?.current, self.listOfProject, in: project)
        let newest = [self.listOfProject, self.published].compactMap { $0 }.max { $0.version < $1.version }
        self.list = try PinList(building: source, after: newest, at: time)
        try ListHistory.expectRoom(for: self.list, in: project)
        try ListHistory(of: project).expectTurn(of: self.list, at: time)
        for older in [self.listOfProject, self.published].compactMap({ $0 }) where time < older.issuedAt {
            throw RepositoryError(
                .metadata,
                "it is \(time) here, and version \(older.version) was issued at \(older.issuedAt): a clock is wrong",
                hint:
                    "set the clock of this machine, or name the time with --at; where that list is dated ahead, restore the "
                    + "files of before from version control: clients refuse what is a day ahead")
        }
        self.metadata = try SignableMetadata(self.list.payload, named: ProjectFolder.sourceName)
    }

    /// The list that is served, where another checkout released it: this one would take back what that one changed, and its
    /// own source says nothing of it.
    private static func unseen(
        _ served: PinList?, _ own: PinList?, in project: ProjectFolder
    ) throws(RepositoryError) -> PinList? {
        guard let served, served.payload != own?.payload else { return nil }
        let kept = try ListHistory(of: project).list(served.version)
        guard kept?.payload != served.payload else { return nil }
        // Of a list from before lists were kept nothing is known, and a later one is here.
        guard kept == nil, let own, own.version > served.version else { return served }
        return nil
    }

    /// A linter for the list that knows what the project knows. Its finding `checkout-behind` is that another checkout
    /// released the list that the destination serves. Lists that are held, what hosts serve and what a probe saw
    /// are added by the caller.
    ///
    /// - Throws: ``RepositoryError`` when a root cannot be read.
    public func linter() throws(RepositoryError) -> Linter {
        var linter = Linter(self.list, at: self.time)
        linter.source = self.source
        linter.published = self.published
        linter.unseen = self.unseen
        linter.root = try self.project.newestRoot()
        return linter
    }

    /// Signs the list, and offers it to a client that holds what is published.
    ///
    /// - Parameter signers: Each signs once, in this order.
    /// - Returns: The envelope, as it is written into a file.
    /// - Throws: ``RepositoryError`` when there is no root, a signer does not sign, signatures are missing, or clients would not
    ///   take the list.
    public func signed(by signers: [any MetadataSigner]) async throws(RepositoryError) -> [UInt8] {
        guard let root = try self.project.newestRoot() else {
            throw RepositoryError(.file, "there is no root in the project folder", hint: "tumbler init makes one")
        }
        var ceremony = try SigningCeremony(self.metadata, under: [root])
        for signer in signers { try await ceremony.add(signer) }
        guard ceremony.isComplete else {
            throw RepositoryError(
                .metadata, "signatures are missing: \(ceremony.missing); nothing was written",
                hint: "tumbler build, then sign by each of the others, then combine")
        }
        let envelope = try SignableMetadata.file(of: ceremony.envelope)
        try ClientCheck.verify(envelope, in: self.project, at: self.time)
        return envelope
    }

    /// Writes the list into the project, `pins.json` and `lists/`, and publishes it with all roots.
    ///
    /// - Parameters:
    ///   - envelope: What ``signed(by:)`` returned.
    ///   - isOut: Whether clients get the list from now on.
    ///   - folder: A folder for the tree of a static host, `v1/lists/NAME` below it; `nil` for none.
    /// - Throws: ``ReleaseError`` when the destination or the folder does not take it, or what follows fails; ``RepositoryError``
    ///   when nothing was written.
    public func publish(_ envelope: [UInt8], isOut: Bool, exportTo folder: URL? = nil) async throws -> Outcome {
        // Before anything goes out or is written: a folder that is ahead of this project.
        let tree = try folder.map { folder throws(RepositoryError) in
            let tree = try self.project.tree(of: envelope)
            try tree.expectRoom(in: folder)
            return tree
        }
        let publication = try self.destination.map { _ throws(RepositoryError) in
            try Publication(roots: try self.project.roots(), list: envelope)
        }
        let logs = try publication?.listedLogs.map { listed throws(RepositoryError) in try self.project.logs(listed) }
        let notes = try self.keepOlder()
        let draft = try DraftedList(envelope, of: self.list, in: self.project)
        var changes: [String]?
        if let destination, let publication {
            switch await destination.publish(publication, logs: logs) {
            case .published(let new): changes = new
            case .refused(let reason): throw draft.takenBack(because: reason)
            // It may be out. When it is, publishing once more says when.
            case .unknown(let reason): throw ReleaseError(reason: reason, project: .newList)
            }
        }
        do throws(RepositoryError) {
            // What a destination took is out, whatever comes of the folder.
            if changes != nil { try self.record(envelope, isOut) }
            if let folder {
                try tree?.write(to: folder)
                try ListHistory.noteExport(in: self.project)
            }
            if changes == nil { try self.record(envelope, isOut) }
        } catch {
            // What clients get already must not pass for a release that failed.
            let isInFolder = folder.map { tree?.hasList(in: $0) ?? false } ?? false
            guard changes != nil || isInFolder else { throw draft.takenBack(because: error) }
            throw ReleaseError(reason: error, project: .published)
        }
        return Outcome(changes: changes, notes: notes)
    }

    private func record(_ envelope: [UInt8], _ isOut: Bool) throws(RepositoryError) {
        guard isOut else { return }
        try ListHistory.keep(envelope, in: self.project, publishedAt: self.time)
    }

    /// Keeps the lists before this one in `lists/`.
    ///
    /// - Returns: Those that could not be kept, in a sentence each.
    /// - Throws: ``RepositoryError`` when `pins.json` cannot be read.
    private func keepOlder() throws(RepositoryError) -> [String] {
        var notes: [String] = []
        func note(_ keep: () throws(RepositoryError) -> Void) {
            do throws(RepositoryError) { try keep() } catch { notes.append(error.reason) }
        }
        if let before = try self.project.newestList() {
            note { () throws(RepositoryError) in try ListHistory.keep(before, in: self.project, publishedAt: nil) }
        }
        if let served = self.destination?.servedEnvelope {
            note { () throws(RepositoryError) in
                try ListHistory.keep(served: served, in: self.project, at: self.time)
            }
        }
        return notes
    }
}

extension ListTree {
    /// Whether a folder has the list: where something failed after it was written, clients get it.
    fileprivate func hasList(in folder: URL) -> Bool {
        let disk = DiskFiles(in: folder)
        return self.files.contains { file in
            file.path.hasSuffix("/\(ProjectFolder.listName)")
                && (try? disk.bytes(of: file.path, limit: MetadataLimits().listBytes)) == file.bytes
        }
    }
}
