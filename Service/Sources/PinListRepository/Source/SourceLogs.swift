// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificateTransparency
public import PinListMetadata

/// The log list that a source names: `logs: FILE`. The file is read as clients will read it.
public struct SourceLogs: Hashable, Sendable {
    /// The path as it was written, from the folder of the source.
    public let path: String
    /// The reference to the file in a list.
    public let listed: ListedLogs
    /// The file.
    public let bytes: [UInt8]
    /// The content of the file.
    public internal(set) var logs: LogList
    /// The position in the source.
    public let position: SourcePosition

    /// Reads the file of `logs`; `nil` where a source has none.
    ///
    /// - Throws: ``RepositoryError`` with the place, when it cannot be read or is no log list.
    init?(_ object: SourceObject, files: some SourceFiles) throws(RepositoryError) {
        guard let name = try object.text("logs") else { return nil }
        let path = SourcePath.beside(name.position.file, name.value)
        let bytes: [UInt8]
        do { bytes = try files.bytes(of: path, limit: LogList.maximumLength) } catch {
            throw name.position.error(
                "\(path): \(error.reason)", hint: "logs: names a log list beside \(name.position.file)")
        }
        do throws(LogListError) { self.logs = try LogList(bytes) } catch {
            throw name.position.error(
                "\(path) is not a log list that clients can read: \(error.reason)",
                hint: "a log list is JSON in version 3 of its format")
        }
        guard let listed = ListedLogs(of: bytes) else { throw name.position.error("\(path) is empty") }
        self.path = path
        self.listed = listed
        self.bytes = bytes
        self.position = name.position
    }

    /// Equal when the files are.
    public static func == (left: SourceLogs, right: SourceLogs) -> Bool { left.listed == right.listed }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.listed) }
}

extension ListSource {
    /// `logs` of a source, and nothing else: the other files that the source names need not be there.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    static func logs(
        in bytes: [UInt8], file: String, files: some SourceFiles
    ) throws(RepositoryError) -> SourceLogs? {
        try SourceLogs(
            try SourceObject(try YAMLReader.read(bytes, file: file), "tumbler.yaml", known: self.members), files: files)
    }
}
