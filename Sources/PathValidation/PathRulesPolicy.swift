// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Adapters) import CertificatePinning
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The policy of swift-certificates' verifier for a path: its own RFC 5280 policy, and its own server identity policy.
///
/// Three things are decided before a path comes here, and only declared here, so that a critical extension is no obstacle:
/// extended key usage (``CertificateProfile``, before a certificate becomes a candidate), policies (``PolicyGraph``) and,
/// on paths that have them, name constraints (``NameConstraintsCheck``). On such a path RFC 5280 policy, which cannot be
/// had without its name constraints, is not asked: validity, CA flags and path lengths are the profile's and the search's
/// there. Nor is it asked about a path of one certificate, which it demands to be a CA.
struct PathRulesPolicy: VerifierPolicy {
    private let rfc5280: RFC5280Policy
    private var serverIdentity: ServerIdentityPolicy?
    private let asksRFC5280: Bool

    /// The critical extensions that are checked.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier]

    /// Creates the policy for one path.
    ///
    /// - Parameters:
    ///   - identity: The server whose certificate the leaf must be.
    ///   - time: The time at which all certificates must be valid.
    ///   - path: The path with its checks so far.
    init(identity: ServerIdentity, at time: Timestamp, path: [CandidateCertificate]) {
        self.rfc5280 = RFC5280Policy(
            fixedExpiryValidationTime: Date(timeIntervalSince1970: Double(time.secondsSince1970)))
        self.asksRFC5280 = path.count > 1 && !path.contains { $0.hasNameConstraints }
        self.verifyingCriticalExtensions = Array(CertificateProfile.knownCriticalExtensions)
        // That policy does not accept a name with an underscore: only ours compares it.
        if case .host(let host) = identity, !host.hasUnderscore {
            self.serverIdentity = ServerIdentityPolicy(
                serverHostname: host.isAddress ? nil : host.description,
                serverIP: host.isAddress ? host.description : nil)
        }
    }

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        if self.asksRFC5280,
            case .failsToMeetPolicy(let reason) = self.rfc5280.chainMeetsPolicyRequirements(chain: chain)
        {
            return .failsToMeetPolicy(reason: reason)
        }
        return self.serverIdentity?.chainMeetsPolicyRequirements(chain: chain) ?? .meetsPolicy
    }
}
#endif
