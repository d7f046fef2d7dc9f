// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// What is published under one name: the roots in their order, and the list that is served. A value: a publication
/// makes a new one, or is refused whole.
public struct PublishedName: Sendable {
    /// What came of a publication.
    public enum Change: Hashable, Sendable {
        /// A root of this version is new.
        case root(Int64)
        /// A list of this version is new.
        case list(Int64)
        /// The list that is served has other signatures now.
        case resigned(Int64)

        /// Whether a root is new.
        fileprivate var isRoot: Bool {
            guard case .root = self else { return false }
            return true
        }
    }

    /// The most envelopes of a publication: all rotations that a client makes in one refresh, and a list.
    static let mostEnvelopes = MetadataLimits.rotationsPerRefresh + 1

    /// What a client would trust that holds what is published.
    private var trust: TrustState?
    /// The envelopes of the roots, the configured one first.
    public private(set) var roots: [[UInt8]]

    private let anchor: [UInt8]

    /// Begins with the root that the app ships, which is published as soon as somebody publishes it.
    ///
    /// - Parameters:
    ///   - anchor: The configured root's envelope, byte for byte.
    ///   - roots: The envelopes that are stored, the anchor first; none when nothing was published yet.
    ///   - list: The list that is stored.
    /// - Throws: `MetadataRefusal` when the configured root, or what is stored, does not verify.
    public init(anchor: [UInt8], roots: [[UInt8]] = [], list: [UInt8]? = nil) throws(MetadataRefusal) {
        self.anchor = anchor
        // What is configured is what is served, whatever blanks stood around it when it was published.
        self.roots = roots.first.map { Self.isSame($0, anchor) ? [anchor] + roots.dropFirst() : roots } ?? roots
        // The anchor verifies by itself, whether it is published or not.
        var trust = try TrustState(bundledRoot: anchor, bundledList: nil)
        guard let first = roots.first else { return }
        guard Self.isSame(first, anchor) else {
            throw MetadataRefusal(.root, .rootGap, "the first root that is stored is not the configured one")
        }
        for root in roots.dropFirst() { try trust.load(root: root) }
        if let list { try trust.load(list: list) }
        self.trust = trust
    }

    /// The list that is served.
    public var list: HeldList? { self.trust?.outside }

    /// The newest root.
    public var newestRoot: Root? { self.trust?.chain.newest }

    /// Publishes envelopes: roots in their order, then a list. All of them, or none.
    ///
    /// - Parameters:
    ///   - envelopes: The envelopes.
    ///   - time: When they are published.
    /// - Returns: What is new; nothing for what is published already.
    /// - Throws: ``PublicationRefusal``; then nothing has changed.
    public mutating func publish(
        _ envelopes: [[UInt8]], at time: Timestamp
    ) throws(PublicationRefusal) -> [Change] {
        guard !envelopes.isEmpty else { throw PublicationRefusal(.malformed, "there is nothing to publish") }
        guard envelopes.count <= Self.mostEnvelopes else {
            throw PublicationRefusal(.malformed, "over \(Self.mostEnvelopes) envelopes")
        }
        var next = self
        var changes: [Change] = []
        for (index, envelope) in envelopes.enumerated() {
            let isRoot = try Self.isRoot(envelope)
            if isRoot {
                try next.publish(root: envelope, at: time).map { changes.append($0) }
            } else {
                guard index == envelopes.count - 1 else {
                    throw PublicationRefusal(.malformed, "a list stands before the end: roots come first, then a list")
                }
                try next.publish(list: envelope, at: time).map { changes.append($0) }
            }
        }
        // A root that revokes its signers would leave clients without a current list, unless one comes with it.
        if let list = next.list, list.status != .current {
            throw PublicationRefusal(
                .wouldSupersede,
                "under the new root the list that is served, version \(list.list.version), is not current")
        }
        // A root that adds a hybrid demand leaves it current, and clients that make the demand would refuse it.
        if changes.contains(where: \.isRoot), let detail = next.signaturesMissing(at: time) {
            throw PublicationRefusal(
                .wouldRefuse, "under the new root clients would refuse the list that is served: \(detail)")
        }
        self = next
        return changes
    }

    /// Which signatures a client misses that makes every demand and is offered the list that is served; `nil` when none.
    private func signaturesMissing(at time: Timestamp) -> String? {
        guard var client = self.trust, let list = self.list else { return nil }
        do throws(MetadataRefusal) {
            _ = try client.accept(list: list.bytes, at: time)
            return nil
        } catch {
            return [.unsigned, .thresholdNotMet].contains(error.code) ? error.detail : nil
        }
    }

    /// Whether two envelopes are the same bytes, but for white space around them: a file ends with a line break that an
    /// element of an array need not have.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool { Self.core(one) == Self.core(other) }

    /// Without JSON's white space (RFC 8259, section 2) around it.
    private static func core(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return [] }
        return bytes[...last].drop(while: isBlank)
    }

    private static func isRoot(_ envelope: [UInt8]) throws(PublicationRefusal) -> Bool {
        if (try? Envelope(envelope, of: .root, limits: MetadataLimits())) != nil { return true }
        do throws(MetadataRefusal) {
            _ = try Envelope(envelope, of: .pins, limits: MetadataLimits())
            return false
        } catch {
            throw PublicationRefusal(error)
        }
    }

    private mutating func publish(root: [UInt8], at time: Timestamp) throws(PublicationRefusal) -> Change? {
        if self.roots.contains(where: { Self.isSame($0, root) }) { return nil }
        do throws(MetadataRefusal) {
            guard var trust = self.trust else {
                guard Self.isSame(root, self.anchor) else {
                    throw MetadataRefusal(.root, .rootGap, "the first root must be the configured one, byte for byte")
                }
                let trust = try TrustState(bundledRoot: self.anchor, bundledList: nil)
                self.trust = trust
                self.roots = [self.anchor]
                return .root(trust.chain.newest.version)
            }
            let accepted = try trust.accept(root: root, at: time)
            self.trust = trust
            self.roots.append(root)
            return .root(accepted.version)
        } catch {
            throw PublicationRefusal(error)
        }
    }

    private mutating func publish(list: [UInt8], at time: Timestamp) throws(PublicationRefusal) -> Change? {
        guard var trust = self.trust else {
            throw PublicationRefusal(.unprocessable("root-gap"), "no root is published yet; publish it first")
        }
        let acceptance: TrustState.Acceptance
        do throws(MetadataRefusal) { acceptance = try trust.accept(list: list, at: time) } catch {
            throw PublicationRefusal(error)
        }
        switch acceptance {
        case .unchanged: return nil
        case .signatureLost:
            throw PublicationRefusal(
                .signatureLost,
                "the envelope lacks a signature of the one that is served; tumbler combine joins the two")
        case .newer:
            self.trust = trust
            return (trust.outside?.list.version).map { .list($0) }
        case .resigned:
            // The same signatures spelled otherwise would be a new entity tag, and each client would fetch it again.
            guard Self.signatures(in: list) != self.list.flatMap({ Self.signatures(in: $0.bytes) }) else { return nil }
            self.trust = trust
            return (trust.outside?.list.version).map { .resigned($0) }
        }
    }

    /// The signatures of an envelope, whatever order, hints and blanks it has them in.
    private static func signatures(in envelope: [UInt8]) -> Set<[UInt8]>? {
        (try? Envelope(envelope, of: .pins, limits: MetadataLimits())).map { Set($0.signatures.map(\.bytes)) }
    }
}
