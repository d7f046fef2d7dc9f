// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import PathValidation
import PinListRepository
import PinRotation

/// The options by which `rotate` probes each address of a host.
struct RotationLookOptions: ParsableArguments {
    @Flag(name: .customLong("no-look"), help: "Do not probe the host: only earlier probes count.")
    var noLook = false

    @Option(
        help: ArgumentHelp(
            "The anchors of what the host serves; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    /// The keys that each address of the entries of a rotation serves now; `nil` when they are not probed.
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

    /// The keys that each address serves, as they were observed. An address that this machine has no route to is left
    /// out, unless its host has no other. A host of which nothing was seen may serve anything.
    ///
    /// - Parameters:
    ///   - hosts: The hosts. Where there are several, an address is named after its host.
    ///   - seen: The observations of the addresses of each of them, in the same order.
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
