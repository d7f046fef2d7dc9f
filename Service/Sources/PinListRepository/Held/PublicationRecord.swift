// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// A line of `lists/published.jsonl`: which list went out, and when (formats.md, section 9).
public struct PublicationRecord: Hashable, Sendable {
    /// The version of the list.
    public let version: Int64

    /// The lower-case hex SHA-256 of its envelope: what clients name when they ask for a newer one.
    public let digest: String

    /// The time of publication.
    public let at: Timestamp

    /// The maximum number of bytes of a line: `publish` writes about 130 (formats.md, section 9).
    static let maximumLength = 1_024

    /// States a record.
    public init(version: Int64, digest: String, at time: Timestamp) {
        self.version = version
        self.digest = digest
        self.at = time
    }

    /// Reads a line; unknown members are ignored.
    ///
    /// - Returns: `nil` when it is none.
    init?(line: [UInt8]) {
        guard line.count <= Self.maximumLength,
            case .object(let members)? = try? JSONValue(strict: line, maximumValues: 32)
        else { return nil }
        let values = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        guard case .integer(let version)? = values["version"], (1...MetadataLimits.version).contains(version),
            case .string(let digest)? = values["digest"], ListedLogs.isDigest(digest),
            case .string(let text)? = values["at"], let time = try? Timestamp(text)
        else { return nil }
        self.init(version: version, digest: digest, at: time)
    }

    /// The line, without a line break.
    var line: [UInt8] {
        JSONValue.object([
            JSONValue.Member("version", .integer(self.version)), JSONValue.Member("digest", .string(self.digest)),
            JSONValue.Member("at", .string(self.at.description)),
        ]).bytes
    }
}
