// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// How somebody who asked a host found it.
public enum ProbeObservation: Hashable, Sendable {
    /// It presents a chain, and this path was validated.
    case validated(ValidatedPath)
    /// It presents a chain that does not validate: the reason, and a sentence.
    case refused(PinningDecision.Reason, String)
    /// It could not be asked: why.
    case unreachable(String)
}
