// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Everything that is served of lists, made ready: one look into a table for each request, and nothing is computed.
///
/// Read again from the store after each publication, and now and then, for another instance may have published.
final class ServedLists: Sendable {
    /// The answer that is served at one path.
    struct Answer: Sendable {
        /// The name that it belongs to.
        let name: String
        /// Whether it is the list, whose conditional requests are counted.
        let isList: Bool
        /// The validator.
        let tag: EntityTag
        /// The validator as it stands in `ETag`, and in the `If-None-Match` of those who hold this.
        let tagText: String
        /// 200.
        let whole: PreparedResponse
        /// 304.
        let notModified: PreparedResponse
        /// 200 without a body, for `HEAD`.
        let head: PreparedResponse
    }

    /// A name as it is published.
    struct Name: Sendable {
        /// The publications that clients would trust.
        let published: PublishedName
        /// All lists that ever were served: versions by digests.
        let versions: [String: Int64]
    }

    private struct State {
        var count: Int64 = -1
        var answers: [String: Answer] = [:]
        var names: [String: Name] = [:]
        var refusals: [String: MetadataError] = [:]
        /// The domains of all lists.
        var hosts: Set<String> = []
        /// The domains of each list.
        var hostsByName: [String: Set<String>] = [:]
        /// The domains of entries that include their subdomains.
        var parents: Set<String> = []
    }

    private let state = NIOLockedValueBox(State())
    private let sighted = NIOLockedValueBox<Set<String>>([])
    private let anchors: [String: [UInt8]]
    /// The defects of configured roots by themselves, by name.
    private let anchorRefusals: [String: MetadataError]

    /// Begins with nothing.
    ///
    /// - Parameter anchors: The configured root of each name.
    init(anchors: [String: [UInt8]]) {
        self.anchors = anchors
        self.anchorRefusals = anchors.reduce(into: [:]) { refusals, anchor in
            do throws(MetadataError) { try PublishedName(anchor: anchor.value).expectName(anchor.key) } catch {
                refusals[anchor.key] = error
            }
        }
    }

    /// Whether a root is configured for a name.
    func isConfigured(_ name: String) -> Bool { self.anchors[name] != nil }

    /// The answer at a path.
    func answer(_ path: String) -> Answer? { self.state.withLockedValue { $0.answers[path] } }

    /// The publications, by name.
    var names: [String: Name] { self.state.withLockedValue { $0.names } }

    /// Names whose stored metadata does not verify: they are not served.
    var refusals: [String: MetadataError] { self.state.withLockedValue { $0.refusals } }

    /// Whether a list with a digest was ever served under a name.
    func isPublished(_ digest: String, under name: String) -> Bool {
        self.state.withLockedValue { $0.names[name]?.versions[digest] != nil }
    }

    /// Whether a report is about a domain of a published list, or an incident about a published list.
    func isListed(_ report: CollectedReport) -> Bool {
        self.state.withLockedValue { state in
            switch report.kind {
            case .incident: report.list.name.map { state.names[$0] != nil } ?? false
            default: state.hosts.contains(report.notedHostname)
            }
        }
    }

    /// The domain of the entry of a published list that applies to a host: its own, else that of the nearest parent whose
    /// entry has its subdomains with it (formats.md, section 4); `nil` for none.
    func entryDomain(of host: HostName) -> String? {
        self.state.withLockedValue { state in
            let name = host.description
            if state.hosts.contains(name) { return name }
            guard !host.isAddress else { return nil }
            var rest = name[...]
            while let dot = rest.firstIndex(of: ".") {
                rest = rest[rest.index(after: dot)...]
                if state.parents.contains(String(rest)) { return String(rest) }
            }
            return nil
        }
    }

    /// The name of the list that a report names; `nil` when none of that name is published.
    func publishedName(_ report: CollectedReport) -> String? {
        self.state.withLockedValue { state in report.list.name.flatMap { state.names[$0] == nil ? nil : $0 } }
    }

    /// The list that asks for an assertion of a report: the one that it names, or, where that does not have its host, one
    /// that has. So no report of such a host gets around it by naming no list, or another one.
    func nameAsking(for report: CollectedReport, among asking: [String: NameAttestation]) -> String? {
        guard !asking.isEmpty else { return nil }
        if let name = report.list.name, asking[name] != nil { return name }
        guard report.kind != .incident else { return nil }
        return self.state.withLockedValue { state in
            let host = report.notedHostname
            if let name = report.list.name, state.hostsByName[name]?.contains(host) == true { return nil }
            return asking.keys.filter { state.hostsByName[$0]?.contains(host) == true }.min()
        }
    }

    /// Reads what is published when that has changed.
    ///
    /// - Returns: The names whose stored metadata no longer verifies under the configured root: they are not served.
    /// - Throws: What the store says; then what was served goes on being served.
    @discardableResult
    func reload(from store: any ServiceStore) async throws -> [String: MetadataError] {
        let known = self.state.withLockedValue { $0.count }
        let (anchors, anchorRefusals) = (self.anchors, self.anchorRefusals)
        let found = try await store.read { store -> (State, [String: MetadataError])? in
            let count = try store.publicationCount()
            guard count != known else { return nil }
            return try Self.load(store, anchors, anchorRefusals, count)
        }
        guard case (var state, let refusals)? = found else { return [:] }
        state.refusals = refusals
        self.state.withLockedValue { current in
            // A reader that began earlier and ends later must not bring back what was served before.
            guard current.count == known || current.count < state.count else { return }
            current = state
        }
        return refusals
    }

    /// The keys of certificates that a log has and apps refuse, as pins: reports that name one are counted by network.
    var sightedKeys: Set<String> { self.sighted.withLockedValue { $0 } }

    /// Reads them from the store.
    func reloadSightedKeys(from store: any ServiceStore, at now: Timestamp) async throws {
        let names = self.names.keys.sorted()
        let keys = try await store.read { try $0.sightedKeys(of: names, at: now) }
        self.sighted.withLockedValue { $0 = keys }
    }

    /// Reads and verifies all publications anew: returns what is served as far as it verifies, and what does not
    /// verify.
    func check(
        _ store: any ServiceStore
    ) async throws -> (published: [String: PublishedName], refusals: [String: MetadataError]) {
        let (anchors, anchorRefusals) = (self.anchors, self.anchorRefusals)
        var (published, refusals): ([String: PublishedName], [String: MetadataError]) = ([:], [:])
        do {
            let state: State
            (state, refusals) = try await store.read { store in try Self.load(store, anchors, anchorRefusals, 0) }
            published = state.names.mapValues(\.published)
        } catch let error as StoreError where error.code == .absent || error.code == .outdated {
            // The stored lists are read when the service has made the database, or brought it up to date.
        }
        for (name, anchor) in anchors where published[name] == nil && refusals[name] == nil {
            // Nothing is published under the name yet.
            published[name] = try? PublishedName(anchor: anchor)
        }
        return (published, refusals.merging(self.anchorRefusals) { $1 })
    }

    /// The parts that do not verify, of what is published and of the configured roots. What was published since the
    /// last look is verified; the rest was when it was read.
    func readiness(_ store: any ServiceStore) async throws -> [String: MetadataError] {
        try await self.reload(from: store)
        return self.refusals.merging(self.anchorRefusals) { $1 }
    }

    private static func load(
        _ store: StoreTransaction, _ anchors: [String: [UInt8]], _ anchorRefusals: [String: MetadataError],
        _ count: Int64
    ) throws -> (State, [String: MetadataError]) {
        var state = State(count: count)
        var refusals: [String: MetadataError] = [:]
        // Log lists are there before the first list that names them.
        for name in anchors.keys { Self.add(try store.logs(of: name), to: &state.answers) }
        for name in try store.names() {
            guard let anchor = anchors[name] else { continue }
            let (roots, list) = (try store.roots(of: name), try store.list(of: name))
            do throws(MetadataError) {
                if let refusal = anchorRefusals[name] { throw refusal }
                let published = try PublishedName(anchor: anchor, roots: roots, list: list)
                Self.add(published, name, to: &state.answers)
                state.names[name] = Name(published: published, versions: [:])
            } catch {
                refusals[name] = error
                continue
            }
            if let published = state.names[name]?.published {
                let entries = published.list?.list.domains.map(\.entry) ?? []
                let hosts = Set(entries.map(\.domain.description))
                state.hosts.formUnion(hosts)
                state.hostsByName[name] = hosts
                state.parents.formUnion(entries.filter(\.includeSubdomains).map(\.domain.description))
                state.names[name] = Name(published: published, versions: try store.publishedDigests(of: name))
            }
        }
        return (state, refusals)
    }

    /// Log lists are known by their digests, which is checked again: what is served at such a path never changes.
    private static func add(_ logs: [StoredLogs], to answers: inout [String: Answer]) {
        for logs in logs {
            let path = "/v1/lists/\(logs.name)/logs/\(logs.digest).json"
            answers[path] = Answer(logs.name, logs.bytes, isList: false, cache: "public, max-age=31536000, immutable")
        }
    }

    private static func add(_ published: PublishedName, _ name: String, to answers: inout [String: Answer]) {
        for held in published.roots {
            let path = "/v1/lists/\(name)/root/\(held.root.version).json"
            answers[path] = Answer(name, held.bytes, isList: false, cache: "public, max-age=31536000, immutable")
        }
        if let list = published.list {
            answers["/v1/lists/\(name)/pins.json"] = Answer(
                name, list.bytes, isList: true, cache: "public, max-age=300")
        }
    }
}

extension ServedLists.Answer {
    fileprivate init(_ name: String, _ bytes: [UInt8], isList: Bool, cache: String) {
        let tag = EntityTag(digest: Envelope.digest(of: bytes))
        let validators: HTTPFields = [.eTag: tag.text, .cacheControl: cache]
        var fields = validators
        fields[.contentType] = "application/json"
        fields[.contentLength] = "\(bytes.count)"
        fields[.xContentTypeOptions] = "nosniff"
        self.init(
            name: name, isList: isList, tag: tag, tagText: tag.text,
            whole: PreparedResponse(.ok, fields, ByteBuffer(bytes: bytes)),
            notModified: PreparedResponse(.notModified, validators), head: PreparedResponse(.ok, fields))
    }
}
