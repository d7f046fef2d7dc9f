// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A strong validator, and what a client names of it (RFC 9110, sections 8.8.3 and 13.1.2; formats.md, section 7).
public struct EntityTag: Hashable, Sendable {
    /// The digest between the quotation marks.
    public let digest: String

    /// The maximum number of bytes of an `If-None-Match` that are looked at: a list of some tags.
    package static let maximumBytes = 4_096

    /// A tag.
    package init(digest: String) { self.digest = digest }

    /// The tag as it stands in `ETag`.
    public var text: String { "\"\(self.digest)\"" }

    /// The tags of an `If-None-Match`: weak ones and those that a proxy gave the suffix `-gzip` are understood.
    ///
    /// - Returns: `nil` for what is none: then the request is answered as if the field were absent.
    public static func tags(in field: String) -> [EntityTag]? {
        guard field.utf8.count <= Self.maximumBytes else { return nil }
        var tags: [EntityTag] = []
        // Bytes, not characters: where one of these ends is a long question, and clients ask with a tag each time.
        let (quote, blanks) = (UInt8(ascii: "\""), [UInt8(ascii: " "), UInt8(ascii: "\t")])
        for part in field.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            var tag = part.drop { blanks.contains($0) }
            while let last = tag.last, blanks.contains(last) { tag.removeLast() }
            if tag.starts(with: "W/".utf8) { tag = tag.dropFirst(2) }
            guard tag.count >= 2, tag.first == quote, tag.last == quote else { return nil }
            tag = tag.dropFirst().dropLast()
            guard !tag.contains(quote) else { return nil }
            if tag.suffix(5).elementsEqual("-gzip".utf8) { tag = tag.dropLast(5) }
            tags.append(EntityTag(digest: String(Substring(tag))))
        }
        return tags
    }
}
