// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension PinningDecision {
    /// What a report of this decision gives as its reason; `nil` when there is nothing to report.
    ///
    /// A refusal is always reported. What is allowed is when an entry or the list asks for it: a mismatch that is not
    /// enforced, a host that no entry covers, an entry that has expired, a key whose denial is only reported.
    public var reportedReason: Reason? {
        if self.verdict == .block { return self.reason }
        if self.denied != nil { return .deniedKey }
        switch self.reason {
        case .noMatchingPin, .unlistedReported, .domainExpired, .cleartext, .otherHostConnection: return self.reason
        default: return nil
        }
    }
}

extension PinningDecision.Reason {
    /// The reason as one of TrustKit's integers (formats.md, section 5).
    ///
    /// A host that is only reported as unlisted has the number that it has where such hosts are denied; after an entry's
    /// end nothing failed, only its time was over.
    public var validationResult: Int {
        switch self {
        case .noMatchingPin, .otherHostConnection, .deniedKey, .deniedUndecidable, .unlistedDenied, .unlistedReported: 1
        case .chainInvalid, .noCertificates, .overBudget: 2
        case .hostInvalid, .cleartext, .malformed: 3
        // The chain was right, and the process was not.
        case .pinMatch, .notPinned, .suspended, .domainExpired, .tampering: 0
        // A transport's own reason: the chain did not come to be validated.
        default: 2
        }
    }
}
