// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

/// A publication: roots in their order, then a list, all of one name (formats.md, section 7).
///
/// Nothing is verified here. The service evaluates it as a client would, and stores all of it or nothing.
public struct Publication: Sendable {
    /// A file to publish.
    public struct File: Hashable, Sendable {
        /// The name of the file as the user gave it.
        public let name: String
        /// The content of the file.
        public let bytes: [UInt8]

        /// Names some bytes.
        public init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The maximum number of envelopes: all rotations that a client makes in one refresh, and a list.
    public static let maximumEnvelopes = MetadataLimits.rotationsPerRefresh + 1

    /// The name of the list.
    public let name: String

    /// The files in the order in which they are published.
    public let files: [File]

    /// The log list that the list names; `nil` where it names none, or there is no list.
    public let listedLogs: ListedLogs?

    /// Sorts files: roots by their version, then the list.
    ///
    /// - Parameter files: The files in any order; roots, and at most one list.
    /// - Throws: ``RepositoryError`` when one is no signed envelope, or they do not belong together.
    public init(_ files: [File]) throws(RepositoryError) {
        guard files.count <= Self.maximumEnvelopes else {
            throw RepositoryError(
                .usage, "over \(Self.maximumEnvelopes) files", hint: "publish the older roots first, and then the rest")
        }
        var parts: [(file: File, metadata: SignableMetadata)] = []
        for file in files {
            let metadata = try SignableMetadata(file.bytes, named: file.name)
            guard metadata.isEnvelope, !metadata.envelope.signatures.isEmpty else {
                throw RepositoryError(
                    .metadata, "\(file.name) is not signed", hint: "tumbler sign \(file.name) --key KEY -o ENVELOPE")
            }
            parts.append((file, metadata))
        }
        guard let first = parts.first else { throw RepositoryError(.usage, "there is nothing to publish") }
        for part in parts where part.metadata.name != first.metadata.name {
            throw RepositoryError(
                .metadata,
                "\(part.file.name) is for \(part.metadata.name), and \(first.file.name) for \(first.metadata.name)",
                hint: "publish one name at a time")
        }
        let order = parts.sorted { left, right in
            let (left, right) = (left.metadata, right.metadata)
            return left.kind == right.kind ? left.version < right.version : left.kind == .root
        }
        try Self.refusePairs(order)
        self.name = first.metadata.name
        self.files = order.map(\.file)
        let list = order.last.flatMap { $0.metadata.kind == .pins ? $0.metadata.envelope.payload : nil }
        self.listedLogs = list.flatMap { try? PinList(payload: $0) }?.logs
    }

    /// Two lists, or two roots of one version: it is not decidable which is meant.
    private static func refusePairs(_ parts: [(file: File, metadata: SignableMetadata)]) throws(RepositoryError) {
        for (left, right) in zip(parts, parts.dropFirst()) {
            let (kind, other) = (left.metadata.kind, right.metadata.kind)
            guard kind == other, kind == .pins || left.metadata.version == right.metadata.version else { continue }
            let what = kind == .pins ? "lists" : "roots of version \(left.metadata.version)"
            throw RepositoryError(
                .metadata, "\(left.file.name) and \(right.file.name) are two \(what)",
                hint: "a publication has each root once, and one list")
        }
    }

    /// The body of the request: a JSON array whose elements are the envelopes, byte for byte as in their files.
    public var body: [UInt8] {
        var body = [UInt8(ascii: "[")]
        body.reserveCapacity(self.files.reduce(2) { $0 + $1.bytes.count + 1 })
        for (index, file) in self.files.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += file.bytes
        }
        return body + [UInt8(ascii: "]")]
    }
}
