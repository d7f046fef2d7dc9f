// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What of the status a token may see: all of it, or what is about the names that it publishes. A rotation is not ended
/// while an alarm of its host is open, so who publishes must see that; other names are none of its business.
struct StatusScope: Sendable {
    private let names: Set<String>?
    private let hosts: Set<String>
    private let foreign: Set<String>

    /// The scope of some names; `nil` for all there is.
    init(_ overview: Overview, _ names: [String]?) {
        func hosts(_ overviews: [NameOverview]) -> Set<String> {
            Set(overviews.flatMap { $0.list.domains.map(\.entry.domain.description) })
        }
        self.names = names.map { Set($0) }
        let isOwn = { (overview: NameOverview) in names?.contains(overview.name) != false }
        let others = overview.names.filter { !isOwn($0) }
        self.hosts = hosts(overview.names.filter(isOwn))
        self.foreign = hosts(others).subtracting(self.hosts).union(others.map(\.name))
    }

    /// Whether all there is is in it.
    var isWhole: Bool { self.names == nil }

    /// Whether a name is in it.
    func hasName(_ name: String) -> Bool { self.names?.contains(name) != false }

    /// Whether a host is in it: one that a list of its names has.
    func hasHost(_ host: String) -> Bool { self.names == nil || self.hosts.contains(host) }

    /// Whether an alarm is in it. One that is not known to be about another name alone is: an alarm that is left out would
    /// let a rotation go on.
    func hasAlarm(about subject: String) -> Bool { !self.foreign.contains(subject) }
}
