// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The root metadata: the keys for a name, the role that signs roots, and the role that signs lists of pins.
///
/// Source: formats.md, section 3.1.
public struct Root: Hashable, Sendable {
    /// The name of the lists.
    public var name: String
    /// The version: 1 for the first root, then always one more.
    public var version: Int64
    /// The time of issue.
    public var issuedAt: Timestamp
    /// The time when it expires; ignored when a stored root is loaded.
    public var expiresAt: Timestamp
    /// The keys by their ids, at most ``MetadataLimits/keys``.
    public var keys: [String: MetadataKey]
    /// The role that signs roots.
    public var root: Role
    /// The role that signs lists.
    public var pins: Role
    /// Members that this version does not know, by their paths: ignored by clients, refused by tools.
    public private(set) var unknownMembers: [String] = []

    /// Creates a root without checks. Reading its ``payload`` back checks it.
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

    /// The keys of a role, in its order; those of its hybrid demand are not among them.
    public func keys(of role: Role) -> [MetadataKey] { self.keys(of: role.first) }

    /// The keys of a demand, in its order.
    public func keys(of demand: Role.Demand) -> [MetadataKey] { demand.keyIDs.compactMap { self.keys[$0] } }

    /// The hybrid demand of a role, where every key that it names can be verified here. Otherwise it is not demanded: a
    /// client that cannot verify would be cut off.
    public func hybridDemand(of role: Role) -> Role.Demand? {
        role.hybrid.flatMap { self.keys(of: $0).allSatisfy(\.isVerifiable) ? $0 : nil }
    }

    /// Reads a payload. It must have been verified, or be the reader's own.
    ///
    /// - Parameters:
    ///   - payload: The bytes that are signed.
    ///   - algorithms: The algorithms that are verified; keys of others are kept and verify nothing.
    /// - Throws: ``MetadataError``: `malformed` or `wrong-type`.
    public init(
        payload: [UInt8], verifying algorithms: Set<MetadataKey.Algorithm> = MetadataKey.Algorithm.verifiable
    ) throws(MetadataError) {
        var object = try MetadataObject(parsing: payload, of: .root)
        let header = try MetadataHeader(&object)
        self.name = header.name
        self.version = header.version
        self.issuedAt = header.issuedAt
        self.expiresAt = header.expiresAt
        let keys = try object.object("keys") { (keys: inout MetadataObject) throws(MetadataError) in
            try Self.keys(&keys, algorithms)
        }
        self.keys = keys
        (self.root, self.pins) = try object.object("roles") { (roles: inout MetadataObject) throws(MetadataError) in
            (try Self.role("root", &roles, among: keys), try Self.role("pins", &roles, among: keys))
        }
        object.finish()
        self.unknownMembers = object.unknown
    }

    private static func keys(
        _ object: inout MetadataObject, _ algorithms: Set<MetadataKey.Algorithm>
    ) throws(MetadataError) -> [String: MetadataKey] {
        guard object.count <= MetadataLimits.keys else {
            throw MetadataError(.root, .malformed, "there are over \(MetadataLimits.keys) keys")
        }
        var keys: [String: MetadataKey] = [:]
        try object.eachObject { (keyID: String, key: inout MetadataObject) throws(MetadataError) in
            let algorithm = MetadataKey.Algorithm(rawValue: try key.string("algorithm"))
            let bytes = try key.base64("publicKey")
            guard let publicKey = MetadataKey(algorithm: algorithm, publicKey: bytes, verifying: algorithms) else {
                throw key.malformed("publicKey", "is not a \(algorithm.rawValue) key in its one form")
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
    ) throws(MetadataError) -> Role {
        try roles.object(name) { (role: inout MetadataObject) throws(MetadataError) in
            let first = try self.demand(&role, among: keys)
            let hybrid = try role.optionalObject("hybrid") { (hybrid: inout MetadataObject) throws(MetadataError) in
                let demand = try self.demand(&hybrid, among: keys)
                guard Set(demand.keyIDs).isDisjoint(with: first.keyIDs) else {
                    throw hybrid.malformed("keyids", "names a key that the role names already")
                }
                return demand
            }
            return Role(keyIDs: first.keyIDs, threshold: first.threshold, hybrid: hybrid)
        }
    }

    private static func demand(
        _ object: inout MetadataObject, among keys: [String: MetadataKey]
    ) throws(MetadataError) -> Role.Demand {
        let keyIDs = try object.strings("keyids", maximum: MetadataLimits.keys, required: true)
        guard keyIDs.allSatisfy({ keys[$0] != nil }) else {
            throw object.malformed("keyids", "names a key that is not among the keys")
        }
        guard Set(keyIDs).count == keyIDs.count else { throw object.malformed("keyids", "names a key twice") }
        guard !keyIDs.isEmpty else { throw object.malformed("keyids", "is empty") }
        let threshold = try object.integer("threshold", in: 1...Int64(keyIDs.count))
        return Role.Demand(keyIDs: keyIDs, threshold: Int(threshold))
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
        func members(_ demand: Role.Demand) -> [JSONValue.Member] {
            [
                .init("keyids", .array(demand.keyIDs.map { .string($0) })),
                .init("threshold", .integer(Int64(demand.threshold))),
            ]
        }
        func role(_ role: Role) -> JSONValue {
            .object(members(role.first) + (role.hybrid.map { [.init("hybrid", .object(members($0)))] } ?? []))
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
