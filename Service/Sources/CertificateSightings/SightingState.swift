// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The meaning of a certificate that was found in a log, by the list that is served.
public enum SightingState: String, Hashable, Sendable, CaseIterable {
    /// Its key is pinned for its names, and was seen served.
    case pinned
    /// Its key is pinned for its names, and was never seen served.
    case backup
    /// Its key is not pinned, and that of an issuer whose signature holds is: apps accept it, whether or not the
    /// publisher ordered it.
    case issuer
    /// Its key, or that of an issuer whose signature holds, is denied.
    case denied
    /// Apps refuse it: no key of it is pinned.
    case unknown
    /// No entry covers any of its names.
    case unlisted
}

/// The evaluation of a certificate that was found in a log.
public struct SightingEvaluation: Hashable, Sendable {
    /// The meaning of the certificate.
    public let state: SightingState
    /// The domain of the entry that decided: of several, one for which it is worst. `nil` where none covers it.
    public let entry: HostName?
    /// Whether that entry enforces.
    public let isEnforced: Bool
}
