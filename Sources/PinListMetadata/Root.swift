// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// Who may sign: the keys of a name, the role that signs roots, and the role that signs lists of pins.
///
/// Source: formats.md, section 3.1.
public struct Root: Hashable, Sendable {
    /// The name of the lists that the keys sign.
    public var name: String
    /// 1 for the first one, then always one more.
    public var version: Int64
    /// When it was made.
    public var issuedAt: Timestamp
    /// When it ends; it does not matter when a root is loaded.
    public var expiresAt: Timestamp
    /// The keys by their ids, at most ``MetadataLimits/keys``.
    public var keys: [String: MetadataKey]
    /// Who signs roots.
    public var root: Role
    /// Who signs lists.
    public var pins: Role
    /// Members that this version does not know, by their paths: ignored by clients, refused by tools.
    public private(set) var unknownMembers: [String] = []

    /// Creates a root. Whether it makes sense is said by reading its ``payload`` back.
    public init(
        name: String, version: Int64, issuedAt: Timestamp, expiresAt: Timestamp, keys: [MetadataKey], root: Role,
        pins: Role
    ) {
        self.name = name
        self.version = version
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }) { first, _ in first }
        self.root = root
        self.pins = pins
    }

    /// The keys of a role, in its order.
    public func keys(of role: Role) -> [MetadataKey] { role.keyIDs.compactMap { self.keys[$0] } }

    /// Reads a payload. It must have been verified, or be the reader's own.
    ///
    /// - Throws: ``MetadataRefusal``: `malformed` or `wrong-type`.
    public init(payload: [UInt8]) throws(MetadataRefusal) {
        var object = try MetadataObject(parsing: payload, of: .root)
        let header = try MetadataHeader(&object)
        self.name = header.name
        self.version = header.version
        self.issuedAt = header.issuedAt
        self.expiresAt = header.expiresAt
        let keys = try object.object("keys") { (keys: inout MetadataObject) throws(MetadataRefusal) in
            try Self.keys(&keys)
        }
        self.keys = keys
        (self.root, self.pins) = try object.object("roles") { (roles: inout MetadataObject) throws(MetadataRefusal) in
            (try Self.role("root", &roles, among: keys), try Self.role("pins", &roles, among: keys))
        }
        object.finish()
        self.unknownMembers = object.unknown
    }

    private static func keys(_ object: inout MetadataObject) throws(MetadataRefusal) -> [String: MetadataKey] {
        guard object.count <= MetadataLimits.keys else {
            throw MetadataRefusal(.root, .malformed, "there are over \(MetadataLimits.keys) keys")
        }
        var keys: [String: MetadataKey] = [:]
        try object.eachObject { (keyID: String, key: inout MetadataObject) throws(MetadataRefusal) in
            let algorithm = MetadataKey.Algorithm(rawValue: try key.string("algorithm"))
            guard let publicKey = MetadataKey(algorithm: algorithm, publicKey: try key.base64("publicKey")) else {
                throw key.malformed("publicKey", "is no \(algorithm.rawValue) key in its one form")
            }
            guard publicKey.keyID.utf8.elementsEqual(keyID.utf8) else {
                throw key.malformed("publicKey", "does not have this key id")
            }
            keys[keyID] = publicKey
        }
        return keys
    }

    private static func role(
        _ name: String, _ roles: inout MetadataObject, among keys: [String: MetadataKey]
    ) throws(MetadataRefusal) -> Role {
        try roles.object(name) { (role: inout MetadataObject) throws(MetadataRefusal) in
            let keyIDs = try role.strings("keyids", most: MetadataLimits.keys, required: true)
            guard keyIDs.allSatisfy({ keys[$0] != nil }) else {
                throw role.malformed("keyids", "names a key that is not among the keys")
            }
            guard Set(keyIDs).count == keyIDs.count else { throw role.malformed("keyids", "names a key twice") }
            guard !keyIDs.isEmpty else { throw role.malformed("keyids", "is empty") }
            let threshold = try role.integer("threshold", in: 1...Int64(keyIDs.count))
            return Role(keyIDs: keyIDs, threshold: Int(threshold))
        }
    }

    /// The root as the bytes that are signed.
    public var payload: [UInt8] {
        let keys = self.keys.sorted { $0.key < $1.key }.map { keyID, key in
            JSONValue.Member(
                keyID,
                .object([
                    .init("algorithm", .string(key.algorithm.rawValue)),
                    .init("publicKey", .string(Base64.encode(key.subjectPublicKeyInfo))),
                ]))
        }
        func role(_ role: Role) -> JSONValue {
            .object([
                .init("keyids", .array(role.keyIDs.map { .string($0) })),
                .init("threshold", .integer(Int64(role.threshold))),
            ])
        }
        let header = MetadataHeader(
            name: self.name, version: self.version, issuedAt: self.issuedAt, expiresAt: self.expiresAt)
        return JSONValue.object(
            header.members(of: .root) + [
                .init("keys", .object(keys)),
                .init("roles", .object([.init("root", role(self.root)), .init("pins", role(self.pins))])),
            ]
        ).bytes
    }
}
