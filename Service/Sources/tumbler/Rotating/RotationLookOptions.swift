// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository
import PinRotation

/// How `rotate` looks at what each address of a host serves.
struct RotationLookOptions: ParsableArguments {
    @Flag(name: .customLong("no-look"), help: "Do not look at what the host serves: what probes saw counts alone.")
    var noLook = false

    @Option(
        help: ArgumentHelp(
            "The anchors of what the host serves; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    /// What each address of the entries of a rotation serves now; `nil` when nobody looks.
    ///
    /// - Throws: ``CommandError`` when there are no anchors.
    func look(
        at hosts: [HostName], by connections: Connections, _ time: Timestamp
    ) async throws(CommandError) -> [KeySightings.Address]? {
        guard !self.noLook else { return nil }
        let observer = HostObserver(
            validator: PathValidator(
                roots: try connections.roots(self.roots), monotonicNanoseconds: monotonicNanoseconds),
            connections: connections, time: time)
        return Self.addresses(of: hosts, await observer.observe(hosts))
    }

    /// What each address serves, as it was seen. An address that this machine has no route to is left out, unless its
    /// host has no other. A host of which nothing was seen may serve anything.
    ///
    /// - Parameters:
    ///   - hosts: The hosts. Where there are several, an address is named after its host.
    ///   - seen: What was seen at the addresses of each of them, in the same order.
    static func addresses(of hosts: [HostName], _ seen: [[AddressObservation]]) -> [KeySightings.Address] {
        zip(hosts, seen).flatMap { host, observations -> [KeySightings.Address] in
            let reached = observations.filter { !$0.hasNoRoute }
            guard !observations.isEmpty else { return [KeySightings.Address("\(host)", pins: nil)] }
            return (reached.isEmpty ? observations : reached).map { seen in
                let place = seen.address ?? "\(host)"
                let address = hosts.count == 1 || seen.address == nil ? place : "\(host) (\(place))"
                guard case .validated(let path) = seen.observation else {
                    return KeySightings.Address(address, pins: nil)
                }
                return KeySightings.Address(address, pins: path.publicKeyPins)
            }
        }
    }
}
