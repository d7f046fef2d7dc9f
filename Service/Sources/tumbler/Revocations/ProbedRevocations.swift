// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository

/// Revocations of the certificates that a probe saw served.
enum ProbedRevocations {
    /// Asks, and adds what was found to each host.
    ///
    /// A certificate that no list covers is a note where it names lists, or lists were given: many private CAs have none.
    ///
    /// - Parameters:
    ///   - hosts: What the probe found.
    ///   - observations: What it saw, in the same order.
    ///   - given: Files and addresses of further lists.
    ///   - time: When the lists must be in force.
    ///   - connections: How connections are made.
    /// - Returns: Lists that were given and could not be had, each a line.
    /// - Throws: ``CommandError`` when a file that was given cannot be read, or is no list.
    static func add(
        to hosts: inout [ProbedHost], _ observations: [[AddressObservation]], given: [String], at time: Timestamp,
        by connections: Connections
    ) async throws(CommandError) -> [String] {
        let served = observations.map(Self.served)
        var asked = AskedCertificates()
        for (host, certificates) in zip(hosts, served) {
            for (certificate, _) in certificates { asked.add(certificate, of: "\(host.host)") }
        }
        let outcome = try await RevocationListRequest(given: given, time: time, connections: connections).ask(asked)
        for (index, certificates) in served.enumerated() {
            var revoked: [ProbedRevocation] = []
            var notes: [String] = []
            for (certificate, place) in certificates {
                guard let finding = outcome.findings[certificate] else { continue }
                switch finding.state {
                case .good: break
                case .revoked:
                    revoked.append(
                        ProbedRevocation(
                            index: place, issuer: finding.issuer, serial: finding.serial, since: finding.since,
                            reason: finding.reason))
                case .unknown:
                    guard finding.namesLists || !given.isEmpty else { continue }
                    notes.append("\(finding.subject): \(finding.detail ?? "")")
                }
            }
            hosts[index].add(revoked, notes: notes)
        }
        return outcome.troubles
    }

    /// The certificates that a host serves at all its addresses, each once, with its place in the path.
    private static func served(_ observations: [AddressObservation]) -> [(IssuedCertificate, Int)] {
        var seen: Set<IssuedCertificate> = []
        return observations.flatMap { seen -> [(IssuedCertificate, Int)] in
            guard case .validated(let path) = seen.observation else { return [] }
            return IssuedCertificate.all(of: path).enumerated().map { ($1, $0) }
        }.filter { seen.insert($0.0).inserted }
    }
}
