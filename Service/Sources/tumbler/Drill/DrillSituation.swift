// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// The statements of the served list about the drilled host, as the service gives it to all clients.
struct DrillSituation: Hashable, Sendable {
    /// The digest of the envelope.
    let digest: String
    /// Its version.
    let version: Int64
    /// Whether the host is suspended.
    let isSuspended: Bool
    /// The pins of the host's entry.
    let pins: Set<Pin>
    /// The keys that the newest root lets sign lists.
    let signers: Set<String>

    /// Reads envelopes that the service has verified.
    ///
    /// - Parameters:
    ///   - bytes: The list that is served.
    ///   - roots: The roots, the newest one last.
    ///   - host: The drilled host.
    ///   - time: The time at which suspensions are evaluated.
    /// - Throws: ``RepositoryError``.
    init(list bytes: [UInt8], roots: [[UInt8]], host: HostName, at time: Timestamp) throws {
        guard let newest = roots.last,
            case .pins(let list) = try SignableMetadata(bytes, named: "the list that is served").content,
            case .root(let root) = try SignableMetadata(newest, named: "the newest root").content
        else { throw CommandError(.undecided, "the service of the drill serves no list") }
        self.digest = Envelope.digest(of: bytes)
        self.version = list.version
        self.isSuspended = list.suspended.contains { suspension in
            suspension.until > time && (suspension.scope == .everything || suspension.scope == .entry(host))
        }
        self.pins = Set(list.domains.first { $0.entry.domain == host }?.entry.pins.map(\.pin) ?? [])
        self.signers = Set(root.pins.keyIDs)
    }
}

/// The one who repairs what a drill breaks: a person at a terminal, or a test.
protocol OnCallPerson: Sendable {
    /// The lines that are typed, one for each ``ask()``. It ends when nothing more can come.
    var lines: AsyncStream<String> { get }

    /// Says that a line is waited for.
    func ask()

    /// Tells the person something, in one line.
    func tell(_ line: String)

    /// Runs a line of shell in the project of the drill, for a person who typed it here.
    ///
    /// - Returns: Its exit code.
    func run(_ line: String, in folder: String, tokenFile: String) async -> Int32
}
