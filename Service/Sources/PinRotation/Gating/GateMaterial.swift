// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// What a server would present.
public enum GateMaterial: Hashable, Sendable {
    /// A chain that validates for the host: its path.
    case path(ValidatedPath)
    /// A chain that does not validate for the host: the reason, and a sentence.
    case invalid(PinningDecision.Reason, String)
    /// A key, of which no certificate is there yet: the pin of its SubjectPublicKeyInfo.
    case key(Pin)
}
