// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The chain of roots: the shipped one, and those that follow it without a gap. The keys of each root signed the next.
public struct RootChain: Sendable {
    /// A root with the bytes that it was read from.
    public struct Held: Sendable {
        /// The root.
        public let root: Root
        /// Its envelope, byte for byte.
        public let bytes: [UInt8]
        /// The digest of its payload.
        let payloadDigest: String
    }

    /// The roots, the shipped one first.
    public private(set) var held: [Held]

    /// The time of issue of the newest root that revoked a key of the role `pins`: a list issued before it is not
    /// current. The newest by version, so that a later root can correct a wrong time.
    public private(set) var revokedBefore: Timestamp?

    /// The version of the newest root under which a list may have become superseded: it lacks a key of the role `pins`, or
    /// has a higher threshold. That of the shipped one where none did.
    private(set) var newestSuperseding: Int64

    private let limits: MetadataLimits
    private let algorithms: Set<MetadataKey.Algorithm>

    /// Creates a chain with the root that an app ships, the anchor. It must carry a threshold of its own keys. Its
    /// expiry is ignored.
    ///
    /// - Parameters:
    ///   - bytes: Its envelope.
    ///   - limits: The size limits.
    ///   - algorithms: The algorithms that are verified; keys of others are kept and verify nothing.
    /// - Throws: ``MetadataError``.
    public init(
        shipped bytes: [UInt8], limits: MetadataLimits = MetadataLimits(),
        verifying algorithms: Set<MetadataKey.Algorithm> = MetadataKey.Algorithm.verifiable
    ) throws(MetadataError) {
        let envelope = try Envelope(bytes, of: .root, limits: limits)
        // The shipped root is verified by itself alone; the app's own signature protects it.
        let root = try Root(payload: envelope.payload, verifying: algorithms)
        _ = try VerifiedEnvelope(envelope, .root, by: root.root, of: root, demanding: .first)
        self.held = [Held(root: root, bytes: bytes, payloadDigest: Envelope.digest(of: envelope.payload))]
        self.newestSuperseding = root.version
        self.limits = limits
        self.algorithms = algorithms
    }

    /// The newest root.
    public var newest: Root { self.held[self.held.count - 1].root }

    /// The roots, the newest one first.
    var newestFirst: [Root] { self.held.reversed().map(\.root) }

    /// Verifies the next root and adds it.
    ///
    /// - Parameters:
    ///   - bytes: Its envelope.
    ///   - now: The later of the clock and the build date, for a root from outside; `nil` when a stored one is loaded,
    ///     for which times are not checked.
    /// - Returns: The root.
    /// - Throws: ``MetadataError``; then nothing has changed.
    @discardableResult
    public mutating func append(_ bytes: [UInt8], at now: Timestamp?) throws(MetadataError) -> Root {
        let envelope = try Envelope(bytes, of: .root, limits: self.limits)
        let newest = self.newest
        var verified = try VerifiedEnvelope(envelope, .root, by: newest.root, of: newest, demanding: .both)
        let root: Root
        do throws(MetadataError) {
            root = try Root(payload: envelope.payload, verifying: self.algorithms)
            try self.check(root, envelope, &verified, at: now)
        } catch {
            var refusal = error
            refusal.isSigned = true
            throw refusal
        }
        // Keys are compared, not their ids: a key whose algorithm changed is another key, and its signatures are no
        // longer valid.
        if !Set(newest.keys(of: newest.pins)).isSubset(of: root.keys(of: root.pins)) {
            self.revokedBefore = root.issuedAt
            self.newestSuperseding = root.version
        }
        if root.pins.threshold > newest.pins.threshold { self.newestSuperseding = root.version }
        self.held.append(Held(root: root, bytes: bytes, payloadDigest: Envelope.digest(of: envelope.payload)))
        return root
    }

    private func check(
        _ root: Root, _ envelope: Envelope, _ verified: inout VerifiedEnvelope, at now: Timestamp?
    ) throws(MetadataError) {
        let newest = self.newest
        guard verified.meets(root.root, of: root, demanding: .both) else {
            throw MetadataError(
                .root, .thresholdNotMet, "root \(root.version) does not carry the signatures that it asks for itself")
        }
        guard root.name.utf8.elementsEqual(newest.name.utf8) else {
            throw MetadataError(.root, .wrongName, "the root is for \(root.name), not for \(newest.name)")
        }
        guard root.version <= newest.version + 1 else {
            throw MetadataError(.root, .rootGap, "root \(root.version) does not follow root \(newest.version)")
        }
        guard root.version >= newest.version else {
            throw MetadataError(.root, .rollback, "root \(root.version) is older than root \(newest.version)")
        }
        if root.version == newest.version {
            let isSame = Envelope.digest(of: envelope.payload) == self.held[self.held.count - 1].payloadDigest
            throw isSame
                ? MetadataError(.root, .rollback, "root \(root.version) again, where the next one was asked for")
                : MetadataError(.root, .equivocation, "there are two roots \(root.version)")
        }
        guard let now else { return }
        try Self.check(issuedAt: root.issuedAt, .root, at: now)
    }

    /// Refuses metadata from the future, which would block all that follows.
    static func check(issuedAt: Timestamp, _ kind: MetadataRole, at now: Timestamp) throws(MetadataError) {
        // Times that were read lie within the years 0 to 9999; a clock may have any value.
        guard issuedAt.secondsSince1970 - MetadataLimits.futureSeconds <= now.secondsSince1970 else {
            throw MetadataError(kind, .issuedInFuture, "issued at \(issuedAt), over a day after \(now)")
        }
    }
}
