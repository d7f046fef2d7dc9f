// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import PinListMetadata

/// The newest list of a static host under its SHA-256, for servers that answer `304` by it.
///
/// Clients send the SHA-256 of the list that they hold (formats.md, section 7). Web servers make entity tags of a file's
/// time and length, and so they send the whole list each time. Beside `pins.json` stand a folder that is named for the
/// digest, with the list as `pins.json` and an empty file of the digest's name, and the symbolic link `current` to it. A server
/// reads the digest from where the link leads, or looks whether there is a file of the name that the client sends. One rename
/// changes the list and its entity tag together, and no configuration.
public struct ListByDigest: Sendable {
    /// The name of the link.
    public static let linkName = "current"

    private let folder: URL

    /// The place below a list's base.
    public init(in folder: URL) { self.folder = folder }

    /// Whether a server may read it.
    public var isThere: Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: self.link.path)) != nil
    }

    private var link: URL { self.folder.appendingPathComponent(Self.linkName) }

    /// Writes a list, and then leads the link to it. The list before stays for requests that are under way.
    ///
    /// - Parameter list: The envelope.
    /// - Throws: ``RepositoryError`` of code `file`; then the link is what it was.
    func write(_ list: [UInt8]) throws(RepositoryError) {
        let digest = Envelope.digest(of: list)
        let before = try? FileManager.default.destinationOfSymbolicLink(atPath: self.link.path)
        guard before != digest else { return }
        let place = self.folder.appendingPathComponent(digest, isDirectory: true)
        try ProjectFolder.write(list, to: place.appendingPathComponent(ProjectFolder.listName))
        try ProjectFolder.write([], to: place.appendingPathComponent(digest))
        let new = self.folder.appendingPathComponent("\(Self.linkName).\(digest)")
        unlink(new.path)
        guard symlink(digest, new.path) == 0, rename(new.path, self.link.path) == 0 else {
            let reason = String(cString: strerror(errno))
            throw RepositoryError(
                .file, "\(self.link.path) cannot be made: \(reason)",
                hint: "a symbolic link is needed there; without --nginx and --caddy none is made")
        }
        self.removeOthers(than: [digest, before ?? digest])
    }

    /// Removes the lists before. What is left over does no harm: nothing leads to it.
    private func removeOthers(than kept: Set<String>) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? []
        for name in names where name.utf8.count == 64 && !kept.contains(name) {
            guard name.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { continue }
            try? FileManager.default.removeItem(at: self.folder.appendingPathComponent(name))
        }
    }
}
