// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinRotation

/// The observation of a host by a probe.
public enum ProbeObservation: Hashable, Sendable {
    /// The host presents a chain, and this path was validated.
    case validated(ValidatedPath)
    /// The host presents a chain that does not validate: the reason, and a sentence.
    case refused(PinningDecision.Reason, String)
    /// The host could not be asked: why.
    case unreachable(String)
}

extension ProbeObservation {
    /// The certificates that the host presents, for the rules of the gate; `nil` when it could not be asked.
    var material: GateMaterial? {
        switch self {
        case .validated(let path): .path(path)
        case .refused(let reason, let detail): .invalid(reason, detail)
        case .unreachable: nil
        }
    }
}

/// The observation of one of the addresses of a host.
public struct AddressObservation: Hashable, Sendable {
    /// The address and its port, such as `192.0.2.7:443` or `[2001:db8::7]:443`; `nil` when the host has none that is
    /// known.
    public let address: String?
    /// The observation.
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
