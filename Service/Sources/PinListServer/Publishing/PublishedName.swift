// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// The publications under one name: the roots in their order, and the list that is served. A value: a publication makes
/// a new one, or is refused whole.
package struct PublishedName: Sendable {
    /// The result of a publication.
    package enum Change: Hashable, Sendable {
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

    /// The maximum number of envelopes of a publication: all rotations that a client makes in one refresh, and a list.
    static let maximumEnvelopes = MetadataLimits.rotationsPerRefresh + 1

    /// The trust state of a client that holds what is published.
    private var trust: TrustState?

    /// The configured root's envelope, byte for byte.
    private let anchor: [UInt8]
    /// The configured root.
    let configured: Root

    /// Begins with the configured root: the one that the oldest supported app ships. Older roots that are stored go on
    /// being served, each at its version; newer ones follow it.
    ///
    /// - Parameters:
    ///   - anchor: The configured root's envelope, byte for byte.
    ///   - roots: The envelopes that are stored, by their versions; none when nothing was published yet.
    ///   - list: The list that is stored.
    /// - Throws: `MetadataError` when the configured root, or what is stored, does not verify, or the one does not
    ///   belong to the other.
    package init(anchor: [UInt8], roots: [[UInt8]] = [], list: [UInt8]? = nil) throws(MetadataError) {
        self.anchor = anchor
        // The anchor verifies by itself, whether it is published or not.
        self.configured = try TrustState(bundledRoot: anchor, bundledList: nil).chain.newest
        guard let first = roots.first else { return }
        var trust = try TrustState(bundledRoot: self.served(first), bundledList: nil)
        for root in roots.dropFirst() { try trust.load(root: self.served(root)) }
        try self.expectAnchor(in: trust)
        if let list { try trust.load(list: list) }
        self.trust = trust
    }

    /// Expects the configured root to be that of a name: the name is what tokens are bound to.
    func expectName(_ name: String) throws(MetadataError) {
        guard self.configured.name == name else {
            throw MetadataError(.root, .wrongName, "the configured root is that of \(self.configured.name)")
        }
    }

    /// The configured bytes for the configured root, however it was spelled when it was published.
    private func served(_ root: [UInt8]) -> [UInt8] { Self.isSame(root, self.anchor, .root) ? self.anchor : root }

    /// Expects the configured root among those that are stored, or as the next one: only a root in the same chain vouches
    /// for what is stored.
    private func expectAnchor(in stored: TrustState) throws(MetadataError) {
        let (version, held) = (self.configured.version, stored.chain.held)
        guard !held.contains(where: { $0.bytes == self.anchor }) else { return }
        let (first, newest) = (held.first?.root.version ?? version, stored.chain.newest.version)
        if version < first {
            throw MetadataError(
                .root, .rootGap,
                "root \(version) is configured, and the roots that are stored begin with root \(first): configure root "
                    + "\(first)")
        }
        if version <= newest {
            throw MetadataError(.root, .rootGap, "root \(version) that is stored is not the configured one")
        }
        guard version == newest + 1 else {
            throw MetadataError(
                .root, .rootGap,
                "root \(version) is configured, and the newest that is stored is root \(newest): publish those between "
                    + "with an earlier root configured")
        }
        // Configured before it was published. The stored list is still served until it is.
        var next = stored
        try next.load(root: self.anchor)
    }

    /// The roots that are served, by their versions; none when nothing was published yet.
    package var roots: [RootChain.Held] { self.trust?.chain.held ?? [] }

    /// The list that is served.
    package var list: HeldList? { self.trust?.outside }

    /// The newest root.
    package var newestRoot: Root? { self.trust?.chain.newest }

    /// The list in an envelope whose signatures hold under a root that is served; `nil` for any other envelope.
    func signedList(_ envelope: [UInt8]) -> PinList? {
        guard var trust = self.trust, (try? trust.load(list: envelope)) != nil else { return nil }
        return trust.outside?.list
    }

    /// Publishes envelopes: roots in their order, then a list. All of them, or none.
    ///
    /// - Parameters:
    ///   - envelopes: The envelopes.
    ///   - time: The time of publication.
    /// - Returns: The new metadata; none for what is published already.
    /// - Throws: ``PublicationError``; then nothing has changed.
    package mutating func publish(
        _ envelopes: [[UInt8]], at time: Timestamp
    ) throws(PublicationError) -> [Change] {
        guard !envelopes.isEmpty else { throw PublicationError(.malformed, "there is nothing to publish") }
        guard envelopes.count <= Self.maximumEnvelopes else {
            throw PublicationError(.malformed, "over \(Self.maximumEnvelopes) envelopes")
        }
        var next = self
        var changes: [Change] = []
        for (index, envelope) in envelopes.enumerated() {
            let isRoot = try Self.isRoot(envelope)
            if isRoot {
                try next.publish(root: envelope, at: time).map { changes.append($0) }
            } else {
                guard index == envelopes.count - 1 else {
                    throw PublicationError(.malformed, "a list stands before the end: roots come first, then a list")
                }
                try next.publish(list: envelope, at: time).map { changes.append($0) }
            }
        }
        // A root that revokes its signers would leave clients without a current list, unless one comes with it.
        if let list = next.list, list.status != .current {
            throw PublicationError(
                .wouldSupersede,
                "under the new root the list that is served, version \(list.list.version), is not current")
        }
        // A root that adds a hybrid demand leaves it current, and clients that make the demand would refuse it.
        if changes.contains(where: \.isRoot), let detail = next.signaturesMissing(at: time) {
            throw PublicationError(
                .wouldRefuse, "under the new root clients would refuse the list that is served: \(detail)")
        }
        self = next
        return changes
    }

    /// The signatures that are missing for a client that makes every demand and is offered the list that is served;
    /// `nil` when none.
    private func signaturesMissing(at time: Timestamp) -> String? {
        guard var client = self.trust, let list = self.list else { return nil }
        do throws(MetadataError) {
            _ = try client.accept(list: list.bytes, at: time)
            return nil
        } catch {
            return [.unsigned, .thresholdNotMet].contains(error.code) ? error.detail : nil
        }
    }

    /// Whether two envelopes have the same payload and the same set of signatures: white space, the order of members
    /// and of signatures, and the hints of signatures do not count (formats.md, section 7).
    private static func isSame(_ one: [UInt8], _ other: [UInt8], _ kind: MetadataRole) -> Bool {
        if one == other { return true }
        guard let one = try? Envelope(one, of: kind, limits: MetadataLimits()),
            let other = try? Envelope(other, of: kind, limits: MetadataLimits())
        else { return false }
        return one.payload == other.payload && Set(one.signatures.map(\.bytes)) == Set(other.signatures.map(\.bytes))
    }

    private static func isRoot(_ envelope: [UInt8]) throws(PublicationError) -> Bool {
        if (try? Envelope(envelope, of: .root, limits: MetadataLimits())) != nil { return true }
        do throws(MetadataError) {
            _ = try Envelope(envelope, of: .pins, limits: MetadataLimits())
            return false
        } catch {
            throw PublicationError(error)
        }
    }

    private mutating func publish(root: [UInt8], at time: Timestamp) throws(PublicationError) -> Change? {
        if self.isHeldOrOlder(root) { return nil }
        let root = self.served(root)
        do throws(MetadataError) {
            guard var trust = self.trust else {
                guard root == self.anchor else {
                    throw MetadataError(
                        .root, .rootGap, "the first root must be the configured one, root \(self.configured.version)")
                }
                self.trust = try TrustState(bundledRoot: self.anchor, bundledList: nil)
                return .root(self.configured.version)
            }
            let accepted = try trust.accept(root: root, at: time)
            guard accepted.version != self.configured.version || root == self.anchor else {
                throw MetadataError(.root, .rootGap, "root \(accepted.version) must be the configured one")
            }
            self.trust = trust
            return .root(accepted.version)
        } catch {
            throw PublicationError(error)
        }
    }

    /// Whether a root is served already, or is one from before the first that is: a publication of all roots of a project
    /// has those, too, and they are not asked for.
    private func isHeldOrOlder(_ root: [UInt8]) -> Bool {
        if self.roots.contains(where: { $0.bytes == root }) { return true }
        // It signs itself, or it is no root; only then is its version looked at.
        guard let offered = try? TrustState(bundledRoot: root, bundledList: nil).chain.newest,
            offered.name == self.configured.name
        else { return false }
        guard let held = self.roots.first(where: { $0.root.version == offered.version }) else {
            return offered.version < (self.roots.first?.root.version ?? self.configured.version)
        }
        return Self.isSame(held.bytes, root, .root)
    }

    private mutating func publish(list: [UInt8], at time: Timestamp) throws(PublicationError) -> Change? {
        guard var trust = self.trust else {
            throw PublicationError(.unprocessable("root-gap"), "no root is published yet; publish it first")
        }
        let acceptance: TrustState.Acceptance
        do throws(MetadataError) { acceptance = try trust.accept(list: list, at: time) } catch {
            throw PublicationError(error)
        }
        switch acceptance {
        case .unchanged: return nil
        case .signatureLost:
            throw PublicationError(
                .signatureLost,
                "the envelope lacks a signature of the one that is served; tumbler combine joins the two")
        case .newer:
            self.trust = trust
            return (trust.outside?.list.version).map { .list($0) }
        case .resigned:
            // The same signatures spelled otherwise would be a new entity tag, and each client would fetch it again.
            if let held = self.list, Self.isSame(held.bytes, list, .pins) { return nil }
            self.trust = trust
            return (trust.outside?.list.version).map { .resigned($0) }
        }
    }
}

extension PublishedName {
    /// The result for a client, by the root that its app ships, one line for each: the roots that it follows and the
    /// list.
    var clients: [String] {
        guard let first = self.roots.first?.root.version, let newest = self.newestRoot?.version else {
            return ["nothing is published yet; the first publication is root \(self.configured.version) and a list"]
        }
        var lines: [String] = []
        if first == 3 { lines.append("clients that ship root 1: not served here, they stay on root 1") }
        if first > 3 {
            lines.append("clients that ship roots 1 to \(first - 2): not served here, each stays on its root")
        }
        if first > 1 {
            lines.append(
                "clients that ship root \(first - 1): \(self.way(from: first, to: newest)), "
                    + "where keys of root \(first - 1) signed root \(first)")
        }
        lines += self.roots.map { held in
            "clients that ship root \(held.root.version): \(self.way(from: held.root.version + 1, to: newest))"
        }
        return lines
    }

    /// The roots that a client follows, and the list after them.
    private func way(from next: Int64, to newest: Int64) -> String {
        let list = self.list.map { "list \($0.list.version)" } ?? "no list"
        if next > newest { return list }
        return "\(next == newest ? "root \(next)" : "roots \(next) to \(newest)"), then \(list)"
    }
}
