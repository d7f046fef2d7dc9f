// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// The changes of a new root against the one before it, or a first root.
public struct RootChange: Sendable {
    /// The default validity of a root: three years of 365 days, in seconds.
    public static let validity: Int64 = 3 * 365 * 86_400

    /// Keys that a role gets.
    public var added: [(kind: MetadataRole, key: MetadataKey)] = []

    /// Keys that the hybrid demand of a role gets; the first one makes the demand.
    public var hybridAdded: [(kind: MetadataRole, key: MetadataKey)] = []

    /// Keys that a role or its hybrid demand loses, by the beginning of their ids. Without keys there is no demand.
    public var removed: [(kind: MetadataRole, keyID: String)] = []

    /// Thresholds that change.
    public var thresholds: [(kind: MetadataRole, count: Int)] = []

    /// Thresholds of hybrid demands that change.
    public var hybridThresholds: [(kind: MetadataRole, count: Int)] = []

    /// The time of issue of the root.
    public var issuedAt: Timestamp

    /// The validity of the root, in seconds.
    public var validity: Int64

    /// The minimum number of characters of a key id that name a key: shorter beginnings are soon those of two keys.
    private static let fewestCharacters = 8

    /// Makes a change without any content but a new time.
    public init(issuedAt: Timestamp, validity: Int64 = Self.validity) {
        self.issuedAt = issuedAt
        self.validity = validity
    }

    /// The first root of a name. A threshold that was not said is 1.
    ///
    /// - Throws: ``RepositoryError`` of the code `usage`: what does not fit together.
    public func first(named name: String) throws(RepositoryError) -> Root {
        let empty = Role(keyIDs: [], threshold: 1)
        let root = Root(
            name: name, version: 1, issuedAt: self.issuedAt, expiresAt: self.expiresAt, keys: [], root: empty,
            pins: empty)
        return try self.applied(to: root)
    }

    /// The root after another one: a version more, and the keys that no role has are gone.
    ///
    /// - Throws: ``RepositoryError`` of the code `usage`: what does not fit together.
    public func next(after root: Root) throws(RepositoryError) -> Root {
        var next = root
        next.version += 1
        next.issuedAt = self.issuedAt
        next.expiresAt = self.expiresAt
        guard self.issuedAt >= root.issuedAt else {
            throw RepositoryError(
                .usage, "root \(next.version) would be issued before root \(root.version), at \(root.issuedAt)",
                hint: "is this machine's clock right?")
        }
        return try self.applied(to: next)
    }

    private var expiresAt: Timestamp { Timestamp(secondsSince1970: self.issuedAt.secondsSince1970 + self.validity) }

    private func applied(to base: Root) throws(RepositoryError) -> Root {
        var root = base
        for (kind, text) in self.removed { try Self.remove(text, from: kind, of: &root) }
        for (kind, key) in self.added {
            try Self.expectNew(key, for: kind, of: root)
            root.keys[key.keyID] = key
            Self.change(kind, of: &root) { $0.keyIDs.append(key.keyID) }
        }
        for (kind, key) in self.hybridAdded {
            try Self.expectNew(key, for: kind, of: root)
            root.keys[key.keyID] = key
            Self.change(kind, of: &root) { role in
                let demand = role.hybrid ?? Role.Demand(keyIDs: [], threshold: 1)
                role.hybrid = Role.Demand(keyIDs: demand.keyIDs + [key.keyID], threshold: demand.threshold)
            }
        }
        for (kind, count) in self.thresholds { Self.change(kind, of: &root) { $0.threshold = count } }
        for (kind, count) in self.hybridThresholds {
            guard Self.role(kind, of: root).hybrid != nil else {
                throw RepositoryError(
                    .usage, "the role \(kind.rawValue) has no hybrid demand", hint: "--hybrid \(kind.rawValue)=PUB")
            }
            Self.change(kind, of: &root) { $0.hybrid?.threshold = count }
        }
        for kind in [MetadataRole.root, .pins] { try Self.check(kind, of: root) }
        let used = Set(root.root.allKeyIDs + root.pins.allKeyIDs)
        root.keys = root.keys.filter { used.contains($0.key) }
        // Clients decide whether the root makes sense.
        do { return try Root(payload: root.payload) } catch {
            throw RepositoryError(.usage, "no client would read this root: \(error.detail)")
        }
    }

    private static func remove(
        _ text: String, from kind: MetadataRole, of root: inout Root
    ) throws(RepositoryError) {
        let prefix = text.lowercased()
        let matches = self.role(kind, of: root).allKeyIDs.filter { $0.hasPrefix(prefix) }
        guard prefix.count >= self.fewestCharacters, matches.count == 1 else {
            let what =
                prefix.count < self.fewestCharacters ? "is too short to name a key" : "names \(matches.count) keys"
            throw RepositoryError(
                .usage, "\(kind.rawValue)=\(text) \(what) of the role \(kind.rawValue)",
                hint: "tumbler root show prints the ids; the first \(self.fewestCharacters) characters are enough")
        }
        self.change(kind, of: &root) { role in
            role.keyIDs.removeAll { $0 == matches[0] }
            role.hybrid?.keyIDs.removeAll { $0 == matches[0] }
            if role.hybrid?.keyIDs.isEmpty == true { role.hybrid = nil }
        }
    }

    private static func check(_ kind: MetadataRole, of root: Root) throws(RepositoryError) {
        let role = self.role(kind, of: root)
        guard !role.keyIDs.isEmpty else {
            throw RepositoryError(.usage, "the role \(kind.rawValue) would have no key")
        }
        guard (1...role.keyIDs.count).contains(role.threshold) else {
            throw RepositoryError(
                .usage, "the role \(kind.rawValue) asks for \(role.threshold) of \(role.keyIDs.count) keys",
                hint: "--threshold \(kind.rawValue)=N, with N from 1 to \(role.keyIDs.count)")
        }
        guard let hybrid = role.hybrid, hybrid.threshold < 1 || hybrid.threshold > hybrid.keyIDs.count else { return }
        throw RepositoryError(
            .usage,
            "the hybrid demand of the role \(kind.rawValue) asks for \(hybrid.threshold) of \(hybrid.keyIDs.count) keys",
            hint: "--hybrid-threshold \(kind.rawValue)=N, with N from 1 to \(hybrid.keyIDs.count)")
    }

    private static func expectNew(
        _ key: MetadataKey, for kind: MetadataRole, of root: Root
    ) throws(RepositoryError) {
        let role = self.role(kind, of: root)
        guard !role.keyIDs.contains(key.keyID) else {
            throw RepositoryError(
                .usage, "the role \(kind.rawValue) has the key \(key.keyID) already",
                hint: "a key stands in the role or in its hybrid demand, never in both")
        }
        guard role.hybrid?.keyIDs.contains(key.keyID) != true else {
            throw RepositoryError(
                .usage, "the hybrid demand of the role \(kind.rawValue) has the key \(key.keyID) already",
                hint: "a key stands in the role or in its hybrid demand, never in both")
        }
    }

    private static func role(_ kind: MetadataRole, of root: Root) -> Role {
        kind == .root ? root.root : root.pins
    }

    private static func change(_ kind: MetadataRole, of root: inout Root, _ body: (inout Role) -> Void) {
        switch kind {
        case .root: body(&root.root)
        case .pins: body(&root.pins)
        }
    }
}

extension Role {
    /// The ids of all its keys, those of its hybrid demand included.
    var allKeyIDs: [String] { self.keyIDs + (self.hybrid?.keyIDs ?? []) }
}

/// A root that is named as a file.
public enum RootFile {
    /// Reads a signed root, which must carry a threshold of its own keys.
    ///
    /// No other signature confirms it here: the operator says that this is the root.
    ///
    /// - Throws: ``RepositoryError`` when it cannot be read or does not verify.
    public static func read(_ path: String) throws(RepositoryError) -> (root: Root, bytes: [UInt8]) {
        let bytes = try BoundedFile.read(path, maximum: MetadataLimits().rootBytes)
        do throws(MetadataError) {
            return (try RootChain(shipped: bytes).newest, bytes)
        } catch {
            let isPayload = (try? Root(payload: bytes)) != nil
            throw RepositoryError(
                .metadata, "\(path): \(isPayload ? "the root is not signed yet" : "\(error.code): \(error.detail)")",
                hint: isPayload ? "tumbler sign \(path) --key KEY -o ENVELOPE" : nil)
        }
    }
}

/// A threshold of a root that clients cannot reach which verify some algorithms alone: they stop at the root before it
/// for ever. (Hybrid demands cut no client off: a client that cannot verify them does not make them.)
///
/// Source: formats.md, section 9, `verifiable`.
public struct UnreachableThreshold: Hashable, Sendable, CustomStringConvertible {
    /// The role.
    public let kind: MetadataRole
    /// The number of keys of the role that these clients can verify.
    public let verifiable: Int
    /// The number of them that must sign.
    public let threshold: Int

    /// The threshold that cannot be reached, in a few words.
    public var description: String {
        "the role \(self.kind.rawValue) asks for \(self.threshold) and has \(self.verifiable) that they can verify"
    }
}

extension Root {
    /// The thresholds that signatures of some algorithms cannot reach.
    public func unreachableThresholds(verifying algorithms: Set<MetadataKey.Algorithm>) -> [UnreachableThreshold] {
        [(MetadataRole.root, self.root), (.pins, self.pins)].compactMap { kind, role in
            let count = self.keys(of: role).count { algorithms.contains($0.algorithm) }
            guard count < role.threshold else { return nil }
            return UnreachableThreshold(kind: kind, verifiable: count, threshold: role.threshold)
        }
    }
}
