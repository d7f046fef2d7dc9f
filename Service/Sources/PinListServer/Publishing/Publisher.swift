// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata
package import PinListStore

/// Publishes in one transaction: evaluated, stored and logged, or nothing of it.
package struct Publisher: Sendable {
    private let store: any ServiceStore
    private let anchors: [String: [UInt8]]
    private let unwritten: UnwrittenEntries

    /// The action of the audit log for a refusal.
    static let refusedAction = "publish-refused"

    /// A publisher.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - anchors: The configured root of each name that may be published.
    package init(store: any ServiceStore, anchors: [String: [UInt8]]) {
        self.init(store: store, anchors: anchors, unwritten: UnwrittenEntries())
    }

    /// A publisher that counts the refusals that it does not write: those of a token that has no room left in the audit
    /// log for a day.
    init(store: any ServiceStore, anchors: [String: [UInt8]], unwritten: UnwrittenEntries) {
        self.store = store
        self.anchors = anchors
        self.unwritten = unwritten
    }

    /// Publishes envelopes under a name.
    ///
    /// - Parameters:
    ///   - envelopes: Roots in their order, then a list.
    ///   - name: The name.
    ///   - actor: The publisher: the id of a token, or `cli`.
    ///   - time: The time of publication.
    /// - Returns: The new metadata.
    /// - Throws: ``PublicationError``, which is logged, too, up to a thousand of an actor in a day; what the store says.
    package func publish(
        _ envelopes: [[UInt8]], name: String, by actor: String, at time: Timestamp
    ) async throws -> [PublishedName.Change] {
        try await self.publish({ () throws(PublicationError) in envelopes }, name, by: actor, at: time)
    }

    /// Publishes the elements of a JSON array of envelopes, as ``publish(_:name:by:at:)`` does.
    func publish(
        array bytes: [UInt8], name: String, by actor: String, at time: Timestamp
    ) async throws -> [PublishedName.Change] {
        try await self.publish(
            { () throws(PublicationError) in try EnvelopeArray.elements(of: bytes) }, name, by: actor, at: time)
    }

    private func publish(
        _ read: () throws(PublicationError) -> [[UInt8]], _ name: String, by actor: String, at time: Timestamp
    ) async throws -> [PublishedName.Change] {
        do {
            guard let anchor = self.anchors[name] else {
                throw PublicationError(.notConfigured, "no root is configured for \(name)")
            }
            let envelopes = try read()
            return try await self.store.write(as: .publications) { store in
                try Self.publish(envelopes, name, anchor, in: store, by: actor, at: time)
            }
        } catch let refusal as PublicationError {
            // A token that leaked can send nonsense all day: that is counted, and the log does not grow with it.
            let isWritten = try await self.store.write { store in
                guard try AuditQuota.hasRoom(for: Self.refusedAction, by: actor, in: store, at: time) else {
                    return false
                }
                try store.log(Self.refusedAction, "\(name): \(refusal)", by: actor, at: time)
                return true
            }
            if !isWritten { self.unwritten.add(Self.refusedAction, by: actor, at: time) }
            throw refusal
        }
    }

    private static func publish(
        _ envelopes: [[UInt8]], _ name: String, _ anchor: [UInt8], in store: StoreTransaction, by actor: String,
        at time: Timestamp
    ) throws -> [PublishedName.Change] {
        let (roots, list) = (try store.roots(of: name), try store.list(of: name))
        var published = try Self.published(name, anchor, roots, list)
        let before = published.list?.list
        let changes = try published.publish(envelopes, at: time)
        try Self.expectLogs(of: published.list?.list, in: store)
        var newRoots = published.roots.dropFirst(roots.count).map(\.bytes).makeIterator()
        for change in changes {
            switch change {
            case .root(let version):
                if let root = newRoots.next() { try store.addRoot(root, version: version, name: name) }
                try store.log("publish", "\(name): root \(version)", by: actor, at: time)
            case .list(let version), .resigned(let version):
                guard let list = published.list else { continue }
                try store.serve(
                    StoredList(version: version, digest: list.digest, bytes: list.bytes, publishedAt: time), name: name,
                    summary: ListSummary(of: list.list, after: before))
                try store.noteReportRates(of: list.list, at: time)
                // Hosts that are no longer listed are no longer probed: what was found of them would warn for ever.
                try store.removeProbes(
                    of: name, but: Set(list.list.domains.map { $0.entry.domain.description }))
                let what = change == .resigned(version) ? "list \(version) with other signatures" : "list \(version)"
                try store.log("publish", "\(name): \(what), \(list.digest)", by: actor, at: time)
            }
        }
        return changes
    }

    /// What is published under a name, as far as it verifies under the configured root.
    private static func published(
        _ name: String, _ anchor: [UInt8], _ roots: [[UInt8]], _ list: [UInt8]?
    ) throws(PublicationError) -> PublishedName {
        do throws(MetadataError) {
            let published = try PublishedName(anchor: anchor, roots: roots, list: list)
            try published.expectName(name)
            return published
        } catch {
            throw PublicationError(
                .notVerified,
                "nothing is published: the configured root, or what is stored, does not verify: \(error); "
                    + "tumbler serve --check, on the service's machine, looks at it")
        }
    }

    /// Expects the log list that a list names: clients would ask for it, and evaluate nothing until it is there.
    private static func expectLogs(of list: PinList?, in store: StoreTransaction) throws {
        guard let list, let listed = list.logs, try !store.hasLogs(listed, of: list.name) else { return }
        throw PublicationError(
            .logsMissing,
            "the list names the log list \(listed.digest) of \(listed.length) bytes, which is not here; upload it with "
                + "PUT /v1/lists/\(list.name)\(listed.path), or publish with tumbler publish")
    }
}
