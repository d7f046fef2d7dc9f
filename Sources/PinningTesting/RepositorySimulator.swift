// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// A publisher in memory that really signs: roots, lists, and what an attacker would forge.
///
/// After the simulator of python-tuf's own tests: a story is told by publishing, turning ``time``, and handing a client
/// what ``answer(to:)`` gives.
///
///     var repository = try RepositorySimulator(at: time)
///     var trust = try TrustState(bundledRoot: repository.roots[0], bundledList: repository.lists[0])
///     repository.time = repository.time.advanced(by: 3_600)
///     try trust.accept(list: repository.publishList(), at: repository.time)
public struct RepositorySimulator: Sendable {
    /// The validity of a root in seconds: three years.
    public static let rootValidity: Int64 = 1_095 * 86_400

    /// The validity of a list in seconds: 60 days.
    public static let listValidity: Int64 = 60 * 86_400

    /// The time of the next issue.
    public var time: Timestamp

    /// The keys that sign roots from now on: they are in the next root.
    public var rootKeys: [SigningKey]

    /// The threshold of ``rootKeys``.
    public var rootThreshold: Int

    /// The keys that sign lists from now on: they are in the next root.
    public var pinsKeys: [SigningKey]

    /// The threshold of ``pinsKeys``.
    public var pinsThreshold: Int

    /// The keys and the threshold of the next root's hybrid demand for roots.
    public var rootHybrid: (keys: [SigningKey], threshold: Int)?

    /// The keys and the threshold of the next root's hybrid demand for lists.
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

    /// Changes an answer as an attacker on the way or on the server would; `nil` stands for "there is none".
    public var tampering: [Request: @Sendable ([UInt8]?) -> [UInt8]?] = [:]

    private var random: SeededGenerator
    private var previousRootKeys: [SigningKey] = []

    /// A file that a client requests.
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
    ///   - time: The time of issue.
    ///   - seed: The seed of the keys.
    ///   - rootKeys: The number of keys of the role `root`, and its threshold.
    ///   - pinsKeys: The number of keys of the role `pins`, and its threshold.
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
        let empty = Role(keyIDs: [], threshold: 0)
        self.root = Root(
            name: name, version: 0, issuedAt: time, expiresAt: time, keys: [], root: empty, pins: empty)
        self.list = PinList(name: name, version: 0, issuedAt: time, expiresAt: time, domains: domains)
        try self.publishRoot()
        try self.publishList()
    }

    /// Creates a key without a role.
    public mutating func newKey(_ algorithm: MetadataKey.Algorithm = .ecdsaP256SHA256) -> SigningKey {
        SigningKey(algorithm, using: &self.random)
    }

    // MARK: Publishing

    /// Publishes the next root: with the current keys and thresholds, signed by the keys of the root before it and
    /// by its own.
    ///
    /// - Parameters:
    ///   - keys: The keys that sign; by default all keys of the role.
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

    /// Publishes the next list, signed by all keys of the role.
    ///
    /// - Parameters:
    ///   - keys: The keys that sign; by default all keys of the role.
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

    /// Publishes the newest list once more: the same payload with other signatures.
    @discardableResult
    public mutating func republishList(signedBy keys: [SigningKey]? = nil) throws -> [UInt8] {
        let envelope = try Envelope(of: .pins, payload: self.list.payload, signedBy: keys ?? self.signersOfLists)
        self.lists.append(envelope.bytes)
        return envelope.bytes
    }

    /// The signers of the newest root, and those from now on; each once.
    private var signersOfNextRoot: [SigningKey] {
        let keys = self.rootKeys + (self.rootHybrid?.keys ?? [])
        let known = Set(keys.map(\.keyID))
        return self.previousRootKeys.filter { !known.contains($0.keyID) } + keys
    }

    /// The signers of lists from now on.
    private var signersOfLists: [SigningKey] { self.pinsKeys + (self.pinsHybrid?.keys ?? []) }

    private static func demand(_ hybrid: (keys: [SigningKey], threshold: Int)) -> Role.Demand {
        Role.Demand(keyIDs: self.keyIDs(hybrid.keys), threshold: hybrid.threshold)
    }

    private static func keyIDs(_ keys: [SigningKey]) -> [String] { keys.map(\.keyID) }

    // MARK: Answering

    /// The answer that a client gets, after ``tampering``; `nil` where there is nothing (404).
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
