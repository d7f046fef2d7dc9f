// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// A publisher in memory that really signs: roots, lists, and what an attacker makes of them.
///
/// After the simulator of python-tuf's own tests: a story is told by publishing, turning ``time``, and handing a client
/// what ``answer(to:)`` gives.
///
///     var repository = try RepositorySimulator(at: time)
///     var trust = try TrustState(bundledRoot: repository.roots[0], bundledList: repository.lists[0])
///     repository.time = repository.time.advanced(by: 3_600)
///     try trust.accept(list: repository.publishList(), at: repository.time)
public struct RepositorySimulator: Sendable {
    /// How long a root is valid, in seconds: three years.
    public static let rootValidity: Int64 = 1_095 * 86_400

    /// How long a list is valid, in seconds: 60 days.
    public static let listValidity: Int64 = 60 * 86_400

    /// When the next thing is issued.
    public var time: Timestamp

    /// Who signs roots from now on: they are in the next root.
    public var rootKeys: [SigningKey]

    /// How many of ``rootKeys`` must sign.
    public var rootThreshold: Int

    /// Who signs lists from now on: they are in the next root.
    public var pinsKeys: [SigningKey]

    /// How many of ``pinsKeys`` must sign.
    public var pinsThreshold: Int

    /// Who signs roots as well, by the hybrid demand of the next root, and how many of them must.
    public var rootHybrid: (keys: [SigningKey], threshold: Int)?

    /// Who signs lists as well, by the hybrid demand of the next root, and how many of them must.
    public var pinsHybrid: (keys: [SigningKey], threshold: Int)?

    /// The newest root, without signatures.
    public private(set) var root: Root

    /// The newest list, without signatures.
    public private(set) var list: PinList

    /// The envelopes of all roots, version 1 first.
    public private(set) var roots: [[UInt8]] = []

    /// The envelopes of all lists, the oldest first.
    public private(set) var lists: [[UInt8]] = []

    /// The log lists of Certificate Transparency that are served, each at its digest.
    public var logFiles: [[UInt8]] = []

    /// What somebody on the way, or on the server, makes of an answer; `nil` stands for "there is none".
    public var tampering: [Request: @Sendable ([UInt8]?) -> [UInt8]?] = [:]

    private var random: SeededGenerator
    private var previousRootKeys: [SigningKey] = []

    /// What a client asks for.
    public enum Request: Hashable, Sendable {
        /// `root/{version}.json`
        case root(version: Int64)
        /// `pins.json`
        case pins
        /// `logs/{sha256}.json`
        case logs(digest: String)
    }

    /// Makes keys, and publishes root 1 and list 1.
    ///
    /// - Parameters:
    ///   - name: The name of the lists.
    ///   - time: When they are issued.
    ///   - seed: Decides on the keys.
    ///   - rootKeys: How many keys the role `root` has, and how many of them must sign.
    ///   - pinsKeys: How many keys the role `pins` has, and how many of them must sign.
    ///   - domains: The entries of the first list.
    public init(
        name: String = "com.example.app", at time: Timestamp, seed: UInt64 = 1,
        rootKeys: (count: Int, threshold: Int) = (1, 1), pinsKeys: (count: Int, threshold: Int) = (1, 1),
        domains: [PinList.Domain] = []
    ) throws {
        var random = SeededGenerator(seed: seed)
        func keys(_ count: Int) -> [SigningKey] {
            // Both algorithms take part wherever there is more than one key.
            (0..<count).map { SigningKey($0 % 2 == 0 ? .ecdsaP256SHA256 : .ed25519, using: &random) }
        }
        self.time = time
        self.rootKeys = keys(rootKeys.count)
        self.rootThreshold = rootKeys.threshold
        self.pinsKeys = keys(pinsKeys.count)
        self.pinsThreshold = pinsKeys.threshold
        self.random = random
        let nobody = Role(keyIDs: [], threshold: 0)
        self.root = Root(
            name: name, version: 0, issuedAt: time, expiresAt: time, keys: [], root: nobody, pins: nobody)
        self.list = PinList(name: name, version: 0, issuedAt: time, expiresAt: time, domains: domains)
        try self.publishRoot()
        try self.publishList()
    }

    /// Makes a key; it has no role yet.
    public mutating func newKey(_ algorithm: MetadataKey.Algorithm = .ecdsaP256SHA256) -> SigningKey {
        SigningKey(algorithm, using: &self.random)
    }

    // MARK: Publishing

    /// Publishes the next root: with the keys and thresholds as they are now, signed by those of the root before it and
    /// by its own.
    ///
    /// - Parameters:
    ///   - keys: Who signs; by default everybody who may.
    ///   - edit: Changes the root before it is signed.
    /// - Returns: The envelope.
    @discardableResult
    public mutating func publishRoot(
        signedBy keys: [SigningKey]? = nil, _ edit: (inout Root) -> Void = { _ in }
    ) throws -> [UInt8] {
        var next = self.nextRoot()
        edit(&next)
        let envelope = try Envelope(of: .root, payload: next.payload, signedBy: keys ?? self.signersOfNextRoot)
        self.previousRootKeys = self.rootKeys + (self.rootHybrid?.keys ?? [])
        self.root = next
        self.roots.append(envelope.bytes)
        return envelope.bytes
    }

    /// The next root as it would be published, unsigned.
    public func nextRoot() -> Root {
        let hybridKeys = [self.rootHybrid, self.pinsHybrid].compactMap { $0?.keys }.joined()
        return Root(
            name: self.root.name, version: self.root.version + 1, issuedAt: self.time,
            expiresAt: self.time.advanced(by: Self.rootValidity),
            keys: (self.rootKeys + self.pinsKeys + hybridKeys).map(\.publicKey),
            root: Role(
                keyIDs: Self.keyIDs(self.rootKeys), threshold: self.rootThreshold,
                hybrid: self.rootHybrid.map(Self.demand)),
            pins: Role(
                keyIDs: Self.keyIDs(self.pinsKeys), threshold: self.pinsThreshold,
                hybrid: self.pinsHybrid.map(Self.demand)))
    }

    /// Publishes the next list, signed by everybody who may.
    ///
    /// - Parameters:
    ///   - keys: Who signs; by default everybody who may.
    ///   - edit: Changes the list before it is signed.
    /// - Returns: The envelope.
    @discardableResult
    public mutating func publishList(
        signedBy keys: [SigningKey]? = nil, _ edit: (inout PinList) -> Void = { _ in }
    ) throws -> [UInt8] {
        self.list.version += 1
        self.list.issuedAt = self.time
        self.list.expiresAt = self.time.advanced(by: Self.listValidity)
        edit(&self.list)
        return try self.republishList(signedBy: keys)
    }

    /// Publishes the newest list once more, its payload as it was, with other signatures.
    @discardableResult
    public mutating func republishList(signedBy keys: [SigningKey]? = nil) throws -> [UInt8] {
        let envelope = try Envelope(of: .pins, payload: self.list.payload, signedBy: keys ?? self.signersOfLists)
        self.lists.append(envelope.bytes)
        return envelope.bytes
    }

    /// Those who signed the newest root, and those who sign from now on; each once.
    private var signersOfNextRoot: [SigningKey] {
        let keys = self.rootKeys + (self.rootHybrid?.keys ?? [])
        let known = Set(keys.map(\.keyID))
        return self.previousRootKeys.filter { !known.contains($0.keyID) } + keys
    }

    /// Those who sign lists from now on.
    private var signersOfLists: [SigningKey] { self.pinsKeys + (self.pinsHybrid?.keys ?? []) }

    private static func demand(_ hybrid: (keys: [SigningKey], threshold: Int)) -> Role.Demand {
        Role.Demand(keyIDs: self.keyIDs(hybrid.keys), threshold: hybrid.threshold)
    }

    private static func keyIDs(_ keys: [SigningKey]) -> [String] { keys.map(\.keyID) }

    // MARK: Answering

    /// What a client gets, after whatever ``tampering`` makes of it; `nil` where there is nothing (404).
    public func answer(to request: Request) -> [UInt8]? {
        let honest: [UInt8]? =
            switch request {
            case .root(let version): self.published(root: version)
            case .pins: self.lists.last
            case .logs(let digest): self.logFiles.first { Envelope.digest(of: $0) == digest }
            }
        guard let tamper = self.tampering[request] else { return honest }
        return tamper(honest)
    }

    private func published(root version: Int64) -> [UInt8]? {
        guard version >= 1, version <= Int64(self.roots.count) else { return nil }
        return self.roots[Int(version) - 1]
    }
}
