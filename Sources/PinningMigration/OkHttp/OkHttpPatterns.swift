// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// OkHttp's patterns: a host, `*.` for exactly one more label, `**.` for any number, none included.
struct OkHttpPatterns {
    /// The number of labels before its host that a pattern covers.
    private enum Reach: Hashable { case none, one, any }

    private struct Key: Hashable {
        let host: HostName
        let reach: Reach
    }

    /// The pins of calls that are made together, by their number.
    private struct Call {
        let together: Int
        let pins: [Pin]
    }

    private var calls: [Key: [Call]] = [:]
    private var written: [HostName: String] = [:]

    /// Adds the pins of a call; several calls for one pattern are joined.
    ///
    /// - Parameter together: The number of the calls that are made together with it.
    mutating func add(_ pattern: String, _ pins: [Pin], _ together: Int, _ collector: inout MigrationCollector) {
        let reach: Reach = pattern.hasPrefix("**.") ? .any : pattern.hasPrefix("*.") ? .one : .none
        let name = String(pattern.dropFirst(reach == .any ? 3 : reach == .one ? 2 : 0))
        guard let host = collector.host(name, "add") else { return }
        guard !host.isAddress || reach == .none else {
            return collector.warn(pattern, "add", .weaker, "left out: an IP address has no subdomains")
        }
        self.calls[Key(host: host, reach: reach), default: []].append(Call(together: together, pins: pins))
        self.written[host] = self.written[host] ?? name
    }

    /// Creates an entry for each host of a pattern.
    ///
    /// - Throws: ``MigrationError`` when there are more than a list can have.
    func addEntries(to collector: inout MigrationCollector) throws(MigrationError) {
        for (host, written) in self.written.sorted(by: { $0.key.description < $1.key.description }) {
            try self.addEntry(host, written, to: &collector)
        }
    }

    private func addEntry(
        _ host: HostName, _ written: String, to collector: inout MigrationCollector
    ) throws(MigrationError) {
        let exact = self.calls[Key(host: host, reach: .none)]
        let one = self.calls[Key(host: host, reach: .one)]
        let any = self.calls[Key(host: host, reach: .any)]
        let covers = one != nil || any != nil
        // The pins that OkHttp joins for the host itself, and for the names under it.
        let (forItself, forAllBelow) = self.joined(host)
        let own = (exact ?? []) + (any ?? [])
        let below = (one ?? []) + (any ?? [])
        let all = own + below + forItself + forAllBelow
        if one != nil, any == nil {
            let itself = exact == nil ? "\(host) itself and " : ""
            collector.warn(written, "*.", .stricter, "exactly one label there; here \(itself)all levels are covered")
        }
        // The host itself, the names one label below, and all others: each has pins of its own there.
        let sets = [own + forItself + forAllBelow, below + forAllBelow, (any ?? []) + forAllBelow].map(Self.pins)
        let joined = Self.pins(of: all)
        if covers, sets.contains(where: { !$0.isEmpty && $0 != joined }) {
            collector.warn(
                written, "add", .weaker,
                "several patterns match: their pins are joined for the host and all names under it")
        }
        if Dictionary(grouping: all, by: \.together).values.contains(where: { Self.pins(of: $0) != joined }) {
            collector.warn(
                written, "add", .weaker,
                "calls that are not one chain add its pins, and the program may make some of them only: all pins are "
                    + "joined here. Take out those that the app which you ship does not have")
        }
        let pins = all.flatMap(\.pins).map { KnownPin($0) }
        let entry = PinnedDomain(host, includeSubdomains: covers, pins: pins)
        try collector.add(entry, written: written, "add")
    }

    private static func pins(of calls: [Call]) -> Set<Pin> { Set(calls.flatMap(\.pins)) }

    /// The calls for farther patterns: those that match a host, and those that match all names under it as well.
    private func joined(_ host: HostName) -> (forItself: [Call], forAllBelow: [Call]) {
        guard !host.isAddress else { return ([], []) }
        var forItself: [Call] = []
        var forAllBelow: [Call] = []
        var labels = host.description.split(separator: ".").dropFirst()
        var isNext = true
        while !labels.isEmpty {
            if let parent = try? HostName(labels.joined(separator: ".")) {
                if isNext { forItself += self.calls[Key(host: parent, reach: .one)] ?? [] }
                forAllBelow += self.calls[Key(host: parent, reach: .any)] ?? []
            }
            isNext = false
            labels.removeFirst()
        }
        return (forItself, forAllBelow)
    }
}
