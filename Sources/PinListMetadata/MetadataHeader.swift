// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The members that roots and lists have in common.
struct MetadataHeader {
    let name: String
    let version: Int64
    let issuedAt: Timestamp
    let expiresAt: Timestamp

    /// The format version that is written; another major version is refused.
    static let specVersion = "1.0"

    init(name: String, version: Int64, issuedAt: Timestamp, expiresAt: Timestamp) {
        self.name = name
        self.version = version
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// Reads the members.
    ///
    /// - Throws: ``MetadataError``: `malformed` or `wrong-type`.
    init(_ object: inout MetadataObject) throws(MetadataError) {
        let kind = object.kind
        guard try object.string("type").utf8.elementsEqual(kind.rawValue.utf8) else {
            throw MetadataError(kind, .wrongType, "type is not \(kind.rawValue)")
        }
        let numbers = try object.string("specVersion").split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ Self.isNumber($0) }) else {
            throw object.malformed("specVersion", "is not two numbers with a dot")
        }
        guard numbers[0] == "1" else { throw object.malformed("specVersion", "has a major number other than 1") }
        self.name = try object.string("name")
        guard Self.isName(self.name) else {
            throw object.malformed("name", "is not a letter or digit and up to 127 of letters, digits, '.', '_', '-'")
        }
        self.version = try object.integer("version", in: 1...MetadataLimits.version)
        self.issuedAt = try object.timestamp("issuedAt")
        self.expiresAt = try object.timestamp("expiresAt")
        guard self.expiresAt > self.issuedAt else { throw object.malformed("expiresAt", "is not after issuedAt") }
    }

    /// The members, as they begin every payload.
    func members(of kind: MetadataRole) -> [JSONValue.Member] {
        [
            .init("type", .string(kind.rawValue)), .init("specVersion", .string(Self.specVersion)),
            .init("name", .string(self.name)), .init("version", .integer(self.version)),
            .init("issuedAt", .string(self.issuedAt.description)),
            .init("expiresAt", .string(self.expiresAt.description)),
        ]
    }

    /// Whether a text is `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= MetadataLimits.nameBytes, Self.isAlphanumeric(first) else {
            return false
        }
        return bytes.allSatisfy { Self.isAlphanumeric($0) || Array("._-".utf8).contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0")) && text.utf8.count < 10
    }
}
