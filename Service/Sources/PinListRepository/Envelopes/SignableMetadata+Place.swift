// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PinListMetadata

extension SignableMetadata {
    /// Refuses a file in which this root or list would be lost, or would replace what clients go on from.
    ///
    /// `root/N.json` takes root N alone, and never another root of that version: clients that hold the first one follow no other.
    /// Elsewhere a file takes the next of its kind and name: a root that waits for its turn may be made once more. The same payload
    /// with other signatures is no other file.
    ///
    /// - Parameter path: The file that is to be written.
    /// - Throws: ``RepositoryError`` of the code `metadata`.
    package func expectPlace(at path: String) throws(RepositoryError) {
        let place = Self.rootVersion(ofPlace: path)
        let held = Self.signed(at: path)
        if let held, held.kind != self.kind || held.name != self.name || (place != nil && !self.isSame(as: held)) {
            let article = held.kind == self.kind ? "another" : "a"
            throw RepositoryError(
                .metadata, "\(path) holds \(article) \(held.words)",
                hint: self.hint(path, held, place))
        }
        guard let place, self.kind != .root || self.version != place else { return }
        throw RepositoryError(
            .metadata,
            "\(path) is the place of root \(place), and this is \(self.kind == .root ? "root" : "list") \(self.version)",
            hint: self.hint(path, held, place))
    }

    /// Refuses a file with a signed root or list: what is written there is not signed.
    ///
    /// - Parameter path: The file that is to be written.
    /// - Throws: ``RepositoryError`` of the code `metadata`.
    package static func expectUnsigned(at path: String) throws(RepositoryError) {
        guard let held = self.signed(at: path) else { return }
        throw RepositoryError(
            .metadata, "\(path) holds a signed \(held.words), and what would replace it is not signed",
            hint: "name another file, such as \(held.kind == .root ? "root" : "list").payload")
    }

    private var words: String { "\(self.kind == .root ? "root" : "list"): version \(self.version) of \(self.name)" }

    private func isSame(as other: SignableMetadata) -> Bool { self.envelope.payload == other.envelope.payload }

    private func hint(_ path: String, _ held: SignableMetadata?, _ place: Int64?) -> String {
        guard self.kind == .root, let place else { return "write it to another file" }
        let isOfName = (held?.name ?? self.name) == self.name && held?.kind != .pins
        // What is there is in a place that is not its own.
        guard isOfName, place != self.version || held?.version == self.version else {
            return place == self.version
                ? "move that file away: \(path) is the place of this root" : "write it to another file"
        }
        if let held, held.version == self.version {
            return
                "a root that is published is never rewritten: make the next one with tumbler root rotate, or move the file "
                + "away when that root was never published"
        }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return "write root \(self.version) to \(folder)\(self.version).json"
    }

    /// The version in the name of a root's place, `root/2.json`; `nil` for any other file.
    private static func rootVersion(ofPlace path: String) -> Int64? {
        let components = URL(fileURLWithPath: path).standardizedFileURL.pathComponents.suffix(2)
        guard components.count == 2, components.first == "root", let name = components.last,
            let version = Int64(name.dropLast(5)), name == "\(version).json"
        else { return nil }
        return version
    }

    /// The signed root or list in a file; `nil` where there is none.
    private static func signed(at path: String) -> SignableMetadata? {
        var status = stat()
        // A pipe is not read: it would wait for a writer.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let bytes = try? BoundedFile.read(path, maximum: MetadataLimits().listBytes),
            let held = try? SignableMetadata(bytes, named: path), !held.envelope.signatures.isEmpty
        else { return nil }
        return held
    }
}
