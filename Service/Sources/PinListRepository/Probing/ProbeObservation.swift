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
