// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The facts that the rules of alarms look at.
package struct AlarmFacts: Sendable {
    /// An entry of the audit log that is an alarm for a while.
    package struct Remembered: Hashable, Sendable {
        /// The number of the entry.
        package let number: Int64
        /// The action.
        package let action: String
        /// The subject, in words that begin with the name of a list.
        package let detail: String

        /// States an entry.
        package init(number: Int64, action: String, detail: String) {
            self.number = number
            self.action = action
            self.detail = detail
        }
    }

    /// The time at which they were looked up.
    package let time: Timestamp
    /// The lists.
    package let names: [NameOverview]
    /// Names whose stored metadata does not verify, with what is wrong.
    package let broken: [String: String]
    /// The failure rates of hosts.
    package let hosts: [HostRate]
    /// The last results of probes.
    package let probes: [StoredProbe]
    /// The plans of rotations, by list and host.
    package let rotations: [RotationOverview]
    /// The sightings of monitors of Certificate Transparency, by list.
    package let sightings: [SightingOverview]
    /// The share of attested reports, of the lists that ask for it.
    package let attestations: [String: AttestationRate]
    /// The hosts that attested installations report, in the last hour.
    package let attestedHosts: [String: AttestedHost]
    /// The causes of most failures, by host, of hosts whose rate is far above usual.
    package let leadingCauses: [String: LeadingCause]
    /// The entries that are remembered for days: publications that were refused, lists that prove two versions of the
    /// truth, and lists from before the first that was published here.
    package let remembered: [Remembered]

    /// States what was looked up.
    package init(
        at time: Timestamp, names: [NameOverview], broken: [String: String], hosts: [HostRate], probes: [StoredProbe],
        rotations: [RotationOverview], sightings: [SightingOverview] = [],
        attestations: [String: AttestationRate] = [:], attestedHosts: [String: AttestedHost] = [:],
        leadingCauses: [String: LeadingCause] = [:], remembered: [Remembered]
    ) {
        self.time = time
        self.names = names
        self.broken = broken
        self.hosts = hosts
        self.probes = probes
        self.rotations = rotations
        self.sightings = sightings
        self.attestations = attestations
        self.attestedHosts = attestedHosts
        self.leadingCauses = leadingCauses
        self.remembered = remembered
    }

    /// Whether unattested reports of a host only warn: each list that has it asks for attestations, and gets them. Of
    /// incidents, whose host is empty, each list.
    func onlyAttestedAlarm(_ host: String) -> Bool {
        let names = self.names.filter { name in
            host.isEmpty || name.list.domains.contains { $0.entry.domain.description == host }
        }
        return !names.isEmpty && names.allSatisfy { self.attestations[$0.name].map { !$0.countsUnattested } ?? false }
    }
}
