// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// Puts revoked certificates into a source: whole lines come, and every other byte stays (formats.md, section 9). What
/// comes out was read again, and says exactly what was meant.
public struct RevokedEdit: Sendable {
    /// The source before.
    public let source: ListSource

    private let bytes: [UInt8]
    private let file: String
    private let files: any SourceFiles

    /// Reads what is to be edited.
    ///
    /// - Throws: ``RepositoryError`` for a source that cannot be read.
    public init(_ bytes: [UInt8], file: String, files: some SourceFiles) throws(RepositoryError) {
        self.source = try ListSource(bytes, file: file, files: files)
        self.bytes = bytes
        self.file = file
        self.files = files
    }

    /// Entries without the serial numbers that the source has already, in any mode; those that are left with some.
    public func missing(_ entries: [RevokedCertificates]) -> [RevokedCertificates] {
        var known: [Pin: Set<SerialNumber>] = [:]
        for entry in self.source.revoked.map(\.value) { known[entry.issuer, default: []].formUnion(entry.serials) }
        return entries.compactMap { entry in
            var entry = entry
            entry.serials = entry.serials.filter { known[entry.issuer, default: []].insert($0).inserted }
            return entry.serials.isEmpty ? nil : entry
        }
    }

    /// The lines of entries as `tumbler.yaml` has them, below the name of their section.
    public static func lines(_ entries: [RevokedCertificates]) -> [String] {
        entries.isEmpty ? [] : ["\(Self.section):"] + entries.map { "  - \(YAMLWriter.line($0))" }
    }

    /// The source with further entries.
    ///
    /// - Parameter entries: What ``missing(_:)`` left.
    /// - Throws: ``RepositoryError`` when they cannot be put in by whole lines, or are more than a list may have.
    public func adding(_ entries: [RevokedCertificates]) throws(RepositoryError) -> [UInt8] {
        var bytes = self.bytes
        // Each goes in front of the others.
        for entry in entries.reversed() {
            bytes = try SectionLines(bytes, of: Self.section, file: self.file).inserting(YAMLWriter.line(entry))
        }
        return try self.checked(bytes, self.source.revoked.map(\.value) + entries)
    }

    private static let section = "revoked"

    /// Reads the result. Where it says anything else than was meant, nothing is written.
    private func checked(
        _ bytes: [UInt8], _ expected: [RevokedCertificates]
    ) throws(RepositoryError) -> [UInt8] {
        let hint = "change \(Self.section): in \(self.file) by hand"
        var read: ListSource
        do { read = try ListSource(bytes, file: self.file, files: self.files) } catch {
            throw RepositoryError(
                .source, "\(self.file) cannot be edited by whole lines as it is written (\(error.reason))", hint: hint)
        }
        let found = read.revoked.map(\.value)
        var before = self.source
        read.revoked = []
        before.revoked = []
        guard Set(found) == Set(expected), found.count == expected.count, read == before else {
            throw RepositoryError(
                .source, "an edit of whole lines would change more of \(self.file) than was asked for", hint: hint
            )
        }
        return bytes
    }
}
