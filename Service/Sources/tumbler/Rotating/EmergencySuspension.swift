// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinRotation

/// The suspension that goes into the source in an emergency.
struct EmergencySuspension {
    /// The time for which installations with the new list refuse nothing, in seconds.
    let seconds: Int64

    /// The end of the suspension.
    let until: Timestamp

    /// The entries that get one: those that are not suspended for as long already.
    let hosts: [HostName]

    /// The notes on suspensions that are there already, each one line.
    let notes: [String]

    /// Reads what is suspended already.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - seconds: The length of the suspension.
    ///   - isDemanded: Whether a person named the length: then a longer suspension of the same entry makes way.
    ///   - source: The source.
    ///   - time: Now.
    init(of plan: RotationPlan, for seconds: Int64, isDemanded: Bool, _ source: ListSource, at time: Timestamp) {
        let (sum, overflow) = time.secondsSince1970.addingReportingOverflow(seconds)
        let until = Timestamp(secondsSince1970: overflow ? .max : sum)
        var hosts: [HostName] = []
        var notes: [String] = []
        for host in plan.entries {
            let standing = source.suspended.map(\.value).filter { suspension in
                suspension.until > time && (suspension.scope == .entry(host) || suspension.scope == .everything)
            }
            if !isDemanded, let maximum = standing.map(\.until).max(), maximum >= until {
                notes.append("\(host) is suspended until \(maximum) already, and stays so")
                continue
            }
            hosts.append(host)
            if let replaced = standing.first(where: { $0.scope == .entry(host) }) {
                notes.append("the suspension of \(host) until \(replaced.until) is replaced")
            }
        }
        self.seconds = seconds
        self.until = until
        self.hosts = hosts
        self.notes = notes
    }

    /// The source with it, in place of shorter ones.
    ///
    /// - Parameters:
    ///   - bytes: The source, as edited so far.
    ///   - files: The reader of the files that it includes.
    /// - Throws: ``RepositoryError`` when it is over seven days, or cannot be put in by whole lines.
    func added(
        to bytes: [UInt8], _ files: DiskFiles, _ plan: RotationPlan, at time: Timestamp
    ) throws(RepositoryError) -> [UInt8] {
        var bytes = bytes
        for host in self.hosts {
            bytes = try SuspensionEdit(bytes, file: ProjectFolder.sourceName, files: files).suspending(
                Suspension(.entry(host), until: self.until, reason: "emergency rotation of \(plan.host)"), at: time)
        }
        return bytes
    }
}
