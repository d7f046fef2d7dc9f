// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The trust state of a client: the chain of roots, the shipped list, and the list from outside. Bytes and a time go
/// in; a new state or a refusal comes out. It implements formats.md, section 3.3; nothing else decides on trust in
/// lists.
///
/// A value: a copy can be tried without an effect on the original.
public struct TrustState: Sendable {
    /// The origin of a list in force.
    public enum Source: String, Hashable, Sendable {
        /// The app ships it.
        case bundled
        /// It came from outside: fetched now, or earlier and stored.
        case outside
    }

    /// The outcome of offering a list.
    public enum Acceptance: Hashable, Sendable {
        /// The list is newer and is held from now on.
        case newer
        /// The same envelope is held already.
        case unchanged
        /// The held payload in another envelope, which is held from now on.
        case resigned
        /// The held payload in an envelope that lacks a signature of the held one. An attacker who
        /// serves lists can cut signatures off, so nothing has changed.
        case signatureLost
    }

    /// The roots.
    public private(set) var chain: RootChain

    /// The list that the app ships; `nil` when it ships none.
    public private(set) var bundled: HeldList?

    /// The list from outside.
    public private(set) var outside: HeldList?

    /// The version mark that is kept outside the state folder, if there is one.
    public var mark: VersionMark?

    private let limits: MetadataLimits
    private let buildDate: Timestamp?

    /// Creates the state from the files that an app ships.
    ///
    /// - Parameters:
    ///   - root: The envelope of the shipped root.
    ///   - list: The envelope of the shipped list; without one, a client begins without rules.
    ///   - buildDate: The time when the app was built; an earlier clock is not believed.
    ///   - limits: The size limits.
    ///   - algorithms: The algorithms that are verified: by default those of the system. Tests give fewer, to act as an
    ///     older client.
    /// - Throws: ``MetadataError`` when one of them does not verify, or their names differ.
    public init(
        bundledRoot root: [UInt8], bundledList list: [UInt8]?, buildDate: Timestamp? = nil,
        limits: MetadataLimits = MetadataLimits(),
        verifying algorithms: Set<MetadataKey.Algorithm> = MetadataKey.Algorithm.verifiable
    ) throws(MetadataError) {
        self.chain = try RootChain(shipped: root, limits: limits, verifying: algorithms)
        self.limits = limits
        self.buildDate = buildDate
        if let list {
            self.bundled = try HeldList(list, under: self.chain, onlyNewest: true, demanding: .first, limits: limits)
        }
    }

    // MARK: The list in force

    /// The list in force and its origin: the current one with the highest version, else the superseded one.
    public var inForce: (held: HeldList, source: Source)? {
        let lists = [self.bundled.map { ($0, Source.bundled) }, self.outside.map { ($0, Source.outside) }]
            .compactMap { $0 }
        let current = lists.filter { $0.0.status == .current }
        // Equal versions: the shipped one, unless the other is the same payload in a newer envelope.
        return (current.isEmpty ? lists : current).reduce(nil) { best, next in
            guard let best else { return next }
            guard next.0.list.version == best.0.list.version else {
                return next.0.list.version > best.0.list.version ? next : best
            }
            return next.0.payload == best.0.payload ? next : best
        }
    }

    /// Whether the shipped list and the one from outside have the same version and differ.
    public var hasConflictingLists: Bool {
        guard let bundled, let outside else { return false }
        return bundled.status == outside.status && bundled.list.version == outside.list.version
            && bundled.payload != outside.payload
    }

    /// *Now* of formats.md, section 3.3, step 1: the later of a clock and the build date.
    public func now(_ clock: Timestamp) -> Timestamp { max(clock, self.buildDate ?? clock) }

    /// The reference time for suspensions, expiries and entries: the later of ``now(_:)`` and the `issuedAt` of
    /// the current list in force.
    public func referenceTime(_ clock: Timestamp) -> Timestamp {
        let now = self.now(clock)
        guard let held = self.inForce?.held, held.status == .current else { return now }
        return max(now, held.list.issuedAt)
    }

    /// Whether the list in force has expired.
    public func isStale(_ clock: Timestamp) -> Bool {
        self.inForce.map { $0.held.list.expiresAt <= self.referenceTime(clock) } ?? false
    }

    /// The mark of the list in force, to be kept elsewhere; `nil` unless it is current.
    public var currentMark: VersionMark? {
        guard var held = self.inForce?.held, held.status == .current else { return nil }
        return VersionMark(
            name: held.list.name, version: held.list.version, keyIDs: held.signers(under: self.chain))
    }

    /// The mark that should replace ``mark``; `nil` when that one is as good.
    ///
    /// The keys of the mark must be those that make a threshold today, or it would be void when it is needed. So it
    /// changes with each root that changes them. A mark that still counts is never replaced by a lower one. For an
    /// equal version it keeps its keys: they signed it, even where the envelope that was delivered since lacks their
    /// signatures.
    public var markToKeep: VersionMark? {
        guard let current = self.currentMark else { return nil }
        guard let mark, mark.isValid(under: self.chain.newest) else { return current }
        guard mark.version <= current.version else { return nil }
        guard mark.version == current.version else { return current }
        let signing = Set(self.chain.newest.pins.keyIDs)
        let earlier = mark.keyIDs.filter { signing.contains($0) && !current.keyIDs.contains($0) }
        let keyIDs = current.keyIDs + earlier
        guard Set(keyIDs) != Set(mark.keyIDs) else { return nil }
        return VersionMark(name: current.name, version: current.version, keyIDs: keyIDs)
    }

    // MARK: Loading what was stored

    /// Loads the next stored root; times are not checked.
    ///
    /// - Throws: ``MetadataError``; then nothing has changed, and no later one can be loaded.
    public mutating func load(root bytes: [UInt8]) throws(MetadataError) {
        try self.chain.append(bytes, at: nil)
        self.verifyLists()
    }

    /// Loads the stored list, after the roots. Times are not checked, and a superseded list is held, too.
    ///
    /// - Throws: ``MetadataError``; then nothing has changed.
    public mutating func load(list bytes: [UInt8]) throws(MetadataError) {
        // The hybrid demand was checked when the list was accepted, if the root had one then. A root that adds one
        // supersedes nothing.
        self.outside = try HeldList(
            bytes, under: self.chain, onlyNewest: false, demanding: .first, limits: self.limits)
    }

    // MARK: Accepting from outside

    /// Accepts the next root from outside.
    ///
    /// - Returns: The root.
    /// - Throws: ``MetadataError``; then nothing has changed.
    @discardableResult
    public mutating func accept(root bytes: [UInt8], at clock: Timestamp) throws(MetadataError) -> Root {
        let root = try self.chain.append(bytes, at: self.now(clock))
        self.verifyLists()
        return root
    }

    /// Accepts a list from outside, if it is newer.
    ///
    /// The steps have the numbers of formats.md, section 3.3. Steps 5 and 6, to store and to report, are the client's.
    ///
    /// - Throws: ``MetadataError``; then nothing has changed.
    public mutating func accept(list bytes: [UInt8], at clock: Timestamp) throws(MetadataError) -> Acceptance {
        // Step 2: the envelope, its signatures, the payload and the name.
        let offered = try HeldList(
            bytes, under: self.chain, onlyNewest: true, demanding: .both, limits: self.limits)
        do throws(MetadataError) {
            return try self.accept(offered, at: clock)
        } catch {
            var refusal = error
            refusal.isSigned = true
            throw refusal
        }
    }

    private mutating func accept(_ offered: HeldList, at clock: Timestamp) throws(MetadataError) -> Acceptance {
        let list = offered.list
        // Step 3a: not lower than the highest current list.
        if let held = self.highestCurrent {
            guard list.version >= held.list.version else {
                throw MetadataError(.pins, .rollback, "version \(list.version) after version \(held.list.version)")
            }
        }
        // Step 3b: not lower than the mark.
        if let mark, mark.isValid(under: self.chain.newest), list.version < mark.version {
            throw MetadataError(.pins, .rollback, "version \(list.version) after version \(mark.version), as marked")
        }
        // Step 3c: not issued before the newest revoking root.
        if let revokedBefore = self.chain.revokedBefore, list.issuedAt < revokedBefore {
            throw MetadataError(
                .pins, .rollback, "issued at \(list.issuedAt), before a signer was revoked at \(revokedBefore)")
        }
        // Step 3d: of an equal version, the same payload without a lost signature.
        if let held = self.highestCurrent, list.version == held.list.version {
            guard offered.payload == held.payload else {
                throw MetadataError(.pins, .equivocation, "there are two lists of version \(list.version)")
            }
            guard offered.bytes != held.bytes else { return .unchanged }
            guard !offered.lacksSignature(of: held, under: self.chain) else { return .signatureLost }
            self.outside = offered
            return .resigned
        }
        // Step 1: one time decides on the rest.
        let now = self.now(clock)
        // Step 4a: not issued in the future.
        try RootChain.check(issuedAt: list.issuedAt, .pins, at: now)
        // Step 4b: the newest root has not expired.
        guard self.chain.newest.expiresAt > now else {
            var refusal = MetadataError(
                .pins, .expired, "root \(self.chain.newest.version) expired at \(self.chain.newest.expiresAt)")
            refusal.expired = .root
            throw refusal
        }
        // Step 4c: the list has not expired.
        guard list.expiresAt > self.referenceTime(clock) else {
            var refusal = MetadataError(.pins, .expired, "version \(list.version) expired at \(list.expiresAt)")
            refusal.expired = .pins
            throw refusal
        }
        self.outside = offered
        return .newer
    }

    /// The current list with the highest version, the lower bound of the next one; of two equal versions the one in
    /// force.
    private var highestCurrent: HeldList? {
        guard let held = self.inForce?.held, held.status == .current else { return nil }
        return held
    }

    private mutating func verifyLists() {
        self.bundled?.evaluate(under: self.chain)
        self.outside?.evaluate(under: self.chain)
    }
}

/// The version mark: the highest version that was ever trusted. It is kept outside the state folder (in the Keychain,
/// for example), so that it survives deletion of the folder. It bounds lists from outside alone.
///
/// Source: formats.md, section 6.
public struct VersionMark: Hashable, Sendable {
    /// The list's name.
    public let name: String
    /// The version.
    public let version: Int64
    /// The keys that signed it.
    public let keyIDs: [String]

    /// Creates a mark.
    public init(name: String, version: Int64, keyIDs: [String]) {
        self.name = name
        self.version = version
        self.keyIDs = keyIDs
    }

    /// Whether the mark still counts: its keys make a threshold under a root.
    func isValid(under root: Root) -> Bool {
        self.name == root.name && Set(self.keyIDs).intersection(root.pins.keyIDs).count >= root.pins.threshold
    }
}
