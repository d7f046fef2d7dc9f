// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import PinRotation

/// A look at the hosts of a rotation: the keys that each address serves, and where that is not known.
///
/// What is not known is not left out: an address that was not asked may serve the old key. Without its pin the users
/// there would be locked out.
struct RotationLook: Sendable {
    /// The observation of one host.
    struct Host: Sendable {
        /// The host.
        let host: HostName

        /// The observations of each of its addresses; `nil` where it was not asked.
        let observations: [AddressObservation]?

        /// The reason for which it may have further addresses, in words that follow its name; `nil` where it has none.
        let narrowing: String?
    }

    /// The reason of an address that this machine has no route to.
    static let noRoute =
        "could not be asked: this machine has no route there (look from elsewhere, or name each address with --connect-to)"

    /// The reason of a host that a probe left out.
    static let notAsked = "did not come to be asked"

    /// The hosts.
    let hosts: [Host]

    /// The keys that each address serves. Where there are several hosts, an address is named after its host.
    var addresses: [KeySightings.Address] { self.hosts.flatMap { self.addresses(of: $0) } }

    /// The hosts that have an address, whether it answered or not: a name that was mistyped has none.
    var existing: [HostName] {
        self.hosts.filter { host in (host.observations ?? []).contains { $0.address != nil } }.map(\.host)
    }

    private static func path(of observation: AddressObservation) -> ValidatedPath? {
        guard case .validated(let path) = observation.observation else { return nil }
        return path
    }

    private func addresses(of seen: Host) -> [KeySightings.Address] {
        guard let observations = seen.observations else {
            return [KeySightings.Address("\(seen.host)", unseen: Self.notAsked)]
        }
        guard !observations.isEmpty else { return [KeySightings.Address("\(seen.host)", pins: nil)] }
        var addresses = observations.map { observation -> KeySightings.Address in
            let place = observation.address ?? "\(seen.host)"
            let name = self.hosts.count == 1 || observation.address == nil ? place : "\(seen.host) (\(place))"
            guard !observation.hasNoRoute else { return KeySightings.Address(name, unseen: Self.noRoute) }
            return KeySightings.Address(name, pins: Self.path(of: observation)?.publicKeyPins)
        }
        // Where nothing was seen, that says enough.
        if let narrowing = seen.narrowing, addresses.contains(where: { $0.pins != nil }) {
            addresses.append(KeySightings.Address("\(seen.host)", unseen: narrowing))
        }
        return addresses
    }
}
