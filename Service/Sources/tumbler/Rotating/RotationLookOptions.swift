// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import PathValidation
import PinListRepository
import PinRotation

/// How `rotate` looks at what each address of a host serves.
struct RotationLookOptions: ParsableArguments {
    @Flag(name: .customLong("no-look"), help: "Do not look at what the host serves: what probes saw counts alone.")
    var noLook = false

    @Option(
        name: [.customLong("roots"), .customLong("cacert")],
        help: ArgumentHelp("The anchors in PEM, or the word system.", valueName: "file|system"))
    var anchors: String = RootsOption.system

    @OptionGroup var connectTo: ConnectToOptions

    /// What each address serves now; `nil` when nobody looks.
    ///
    /// - Throws: ``CommandFailure`` when there are no anchors.
    func look(at host: HostName, _ time: Timestamp) async throws(CommandFailure) -> [KeySightings.Address]? {
        guard !self.noLook else { return nil }
        let observer = HostObserver(
            validator: PathValidator(
                roots: try RootsOption.load(self.anchors), monotonicNanoseconds: monotonicNanoseconds),
            places: self.connectTo.places, time: time)
        return await Self.look(at: host, observer)
    }

    /// What each address serves, as an observer sees it. An address that this machine has no route to is left out,
    /// unless there is no other.
    static func look(at host: HostName, _ observer: HostObserver) async -> [KeySightings.Address] {
        Self.addresses(of: host, await observer.observe([host]).first ?? [])
    }

    /// What each address serves, as it was seen.
    static func addresses(of host: HostName, _ observations: [AddressObservation]) -> [KeySightings.Address] {
        let reached = observations.filter { !$0.hasNoRoute }
        return (reached.isEmpty ? observations : reached).map { seen in
            let address = seen.address ?? "\(host)"
            guard case .validated(let path) = seen.observation else { return KeySightings.Address(address, pins: nil) }
            return KeySightings.Address(address, pins: path.publicKeyPins)
        }
    }
}
