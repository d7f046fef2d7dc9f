// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
public import PinListMetadata

/// A project folder that is made: keys, the first root, the source, the first list (formats.md, section 9).
public struct NewProject: Sendable {
    /// An entry of a new project.
    public struct Entry: Hashable, Sendable {
        /// The host, as its owner wrote it.
        public var host: String
        /// The pins, each with a note.
        public var pins: [KnownPin]

        /// Creates an entry.
        public init(_ host: String, pins: [KnownPin]) {
            self.host = host
            self.pins = pins
        }
    }

    /// A private key of the project.
    private struct KeySigner: MetadataSigner {
        let name: String
        let key: PrivateKey

        func signature(over message: [UInt8]) async throws -> [UInt8] { try self.key.signature(over: message) }
    }

    /// The path of the root key, from the folder.
    public static let rootKeyName = "keys/root.pem"
    /// The path of the pins key, from the folder.
    public static let pinsKeyName = "keys/pins.pem"

    private static let ignoredName = ".gitignore"

    /// The files that never go into version control: keys, tokens of the service and PINs of tokens, and the folders
    /// in which the service keeps its database: the one that it has without a configuration, and that of the guide.
    private static let ignored = ["keys/", "*.token", "token", "token-pin", "tumbler-data/", "service/data/"]

    /// The source, as it will be written.
    public let sourceText: String

    private let folder: ProjectFolder
    private let rootKey: PrivateKey
    private let pinsKey: PrivateKey
    private let time: Timestamp

    /// Begins a project.
    ///
    /// - Parameters:
    ///   - folder: Its folder; nothing of a project may be there yet.
    ///   - name: The name of the list.
    ///   - entries: The entries.
    ///   - section: A `domains` section that stands before the entries, as it is.
    ///   - mode: Whether the entries refuse what does not match, or only report it.
    ///   - reportTo: Where apps report failures to.
    ///   - time: When root and list are made.
    /// - Throws: ``RepositoryError`` when a project is there already.
    public init(
        in folder: ProjectFolder, name: String, entries: [Entry], after section: String? = nil,
        mode: PinnedDomain.Mode = .enforce, reportTo: [String] = [], at time: Timestamp
    ) throws(RepositoryError) {
        self.folder = folder
        self.time = time
        self.sourceText = Self.text(name: name, entries, after: section, mode, reportTo)
        // All that is written, and what would not follow from it: half a project would be left, or one of two.
        for path in [folder.source, folder.list, folder.root(1), folder.root(2)].map(\.path) {
            try WrittenFile.expectNothing(at: path)
        }
        let keys = [Self.rootKeyName, Self.pinsKeyName]
        for name in keys + keys.map(KeyFile.publicPath) + ["\(ListHistory.folderName)/1.json", ListHistory.recordsName]
        {
            try WrittenFile.expectNothing(at: folder.folder.appendingPathComponent(name).path)
        }
        self.rootKey = try PrivateKey(new: .p256)
        self.pinsKey = try PrivateKey(new: .p256)
    }

    /// The list that the source says, unsigned.
    ///
    /// - Throws: ``RepositoryError`` for a name or a host that is none.
    public func list() throws -> (source: ListSource, list: PinList) {
        let source = try ListSource(
            Array(self.sourceText.utf8), file: ProjectFolder.sourceName, files: DiskFiles(in: self.folder.folder))
        return (source, try PinList(building: source, after: nil, at: self.time))
    }

    /// Signs the first root and the list, and writes everything; the source last, which makes the folder a project.
    ///
    /// - Parameters:
    ///   - rootPassphrase: Encrypts the key that signs roots; `nil` leaves it readable.
    ///   - pinsPassphrase: Encrypts the key that signs lists.
    ///   - others: Writes the other keys that the list has pins of. A list must not come about without them.
    /// - Throws: ``RepositoryError``, and what `others` throws.
    public func write(
        rootPassphrase: Passphrase?, pinsPassphrase: Passphrase?, with others: () throws -> Void = {}
    ) async throws {
        let (_, list) = try self.list()
        var change = RootChange(issuedAt: self.time)
        for (kind, key) in [(MetadataRole.root, self.rootKey), (.pins, self.pinsKey)] {
            guard let key = MetadataKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) else {
                throw RepositoryError(.signer, "the new key cannot sign metadata")
            }
            change.added.append((kind, key))
        }
        let root = try change.first(named: list.name)
        let rootFile = try await Self.signed(root.payload, under: [], KeySigner(name: "root", key: self.rootKey))
        let listFile = try await Self.signed(list.payload, under: [root], KeySigner(name: "pins", key: self.pinsKey))

        let folder = self.folder.folder
        let keys = folder.appendingPathComponent("keys")
        do {
            try FileManager.default.createDirectory(
                at: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw RepositoryError(.file, "\(keys.path) cannot be made", hint: "look at the rights, and at the disk")
        }
        var generator = SystemRandomNumberGenerator()
        try KeyFile.write(
            self.rootKey, to: folder.appendingPathComponent(Self.rootKeyName).path, passphrase: rootPassphrase,
            using: &generator)
        try KeyFile.write(
            self.pinsKey, to: folder.appendingPathComponent(Self.pinsKeyName).path, passphrase: pinsPassphrase,
            using: &generator)
        try self.ignoreSecrets()
        try others()
        try ProjectFolder.write(rootFile, to: self.folder.root(1))
        try ClientCheck.verify(listFile, in: self.folder, at: self.time)
        try ProjectFolder.write(listFile, to: self.folder.list)
        try ListHistory.keep(listFile, in: self.folder, publishedAt: self.time)
        try ProjectFolder.write(Array(self.sourceText.utf8), to: self.folder.source)
    }

    private static func signed(_ payload: [UInt8], under roots: [Root], _ signer: KeySigner) async throws -> [UInt8] {
        var ceremony = try SigningCeremony(try SignableMetadata(payload, named: signer.name), under: roots)
        try await ceremony.add(signer)
        return try SignableMetadata.file(of: ceremony.envelope)
    }

    /// Keeps what is secret out of version control; what the file says already stays.
    private func ignoreSecrets() throws {
        let file = self.folder.folder.appendingPathComponent(Self.ignoredName)
        var text: [UInt8] = []
        if FileManager.default.fileExists(atPath: file.path) {
            // Of any encoding, and never replaced by what could not be read.
            do throws(RepositoryError) {
                text = try DiskFiles(in: self.folder.folder).bytes(
                    of: Self.ignoredName, limit: ListSource.maximumLength)
            } catch { throw RepositoryError(.file, "\(Self.ignoredName): \(error.reason)") }
        }
        let known = text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let missing = Self.ignored.filter { !known.contains($0) }.map { "\($0)\n" }
        guard !missing.isEmpty else { return }
        if let last = text.last, last != UInt8(ascii: "\n") { text.append(UInt8(ascii: "\n")) }
        try ProjectFolder.write(text + Array(missing.joined().utf8), to: file)
    }

    private static func text(
        name: String, _ entries: [Entry], after section: String?, _ mode: PinnedDomain.Mode, _ reportTo: [String]
    ) -> String {
        let reports = reportTo.map(YAMLWriter.quoted).joined(separator: ", ")
        var lines = [
            "# The list of pins of \(PrintableText.line(name, maximumLength: 64)). After a change: tumbler release",
            "name: \(YAMLWriter.quoted(name))",
            "validFor: 60d            # a list that is not renewed for so long is stale, and still enforced",
            "refreshAfter: 12h        # how long apps wait before they ask again",
            "propagation: 30d         # how long a pin is out before its certificate may be served",
            "unlisted: allow          # hosts that are not listed: allow, report or deny",
            "reportTo: [\(reports)]             # where apps report failures to, such as https://pins.example.com/v1/reports",
            "signers: {pins: [\"file:\(self.pinsKeyName)\"], root: [\"file:\(self.rootKeyName)\"]}",
        ]
        if let section {
            lines += section.split(separator: "\n").map(String.init)
        } else {
            lines.append(entries.isEmpty ? "domains: []" : "domains:")
        }
        for entry in entries {
            lines.append("  - domain: \(YAMLWriter.quoted(entry.host))")
            lines.append("    mode: \(mode.rawValue)")
            lines.append("    pins:")
            lines += entry.pins.map { "      - \(YAMLWriter.line($0))" }
        }
        return (lines + ["denied: []", "suspended: []", ""]).joined(separator: "\n")
    }
}
