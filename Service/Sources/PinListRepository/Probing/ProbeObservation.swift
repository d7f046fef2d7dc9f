// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinRotation

/// How somebody who asked a host found it.
public enum ProbeObservation: Hashable, Sendable {
    /// It presents a chain, and this path was validated.
    case validated(ValidatedPath)
    /// It presents a chain that does not validate: the reason, and a sentence.
    case refused(PinningDecision.Reason, String)
    /// It could not be asked: why.
    case unreachable(String)
}

extension ProbeObservation {
    /// What the host presents, for the rules of the gate; `nil` when it could not be asked.
    var material: GateMaterial? {
        switch self {
        case .validated(let path): .path(path)
        case .refused(let reason, let detail): .invalid(reason, detail)
        case .unreachable: nil
        }
    }
}

/// What was seen at one of the addresses that a host has.
public struct AddressObservation: Hashable, Sendable {
    /// The address and its port, such as `192.0.2.7:443` or `[2001:db8::7]:443`; `nil` when the host has none that is
    /// known.
    public let address: String?
    /// How it was found.
    public let observation: ProbeObservation
    /// Whether it could not be asked because this machine has no route to it: it speaks no IPv6, say. That says nothing
    /// of the server.
    public let hasNoRoute: Bool

    /// States an observation.
    public init(address: String?, _ observation: ProbeObservation, hasNoRoute: Bool = false) {
        self.address = address
        self.observation = observation
        self.hasNoRoute = hasNoRoute
    }
}
