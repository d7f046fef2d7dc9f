// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// Tells the verifier that extended key usage is policed, so that a critical one is no obstacle.
///
/// ``CertificateProfile`` polices it, before a certificate becomes a candidate: that is what keeps a search within its
/// budget. Nothing but candidates reaches the verifier.
struct ServerAuthenticationPolicy: VerifierPolicy {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [.X509ExtensionID.extendedKeyUsage]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult { .meetsPolicy }
}
#endif
