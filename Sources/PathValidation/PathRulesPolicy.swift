// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What swift-certificates' verifier judges a path by: its own RFC 5280 policy, and its own server identity policy.
///
/// Two things are decided before a path comes here, and only declared here, so that a critical extension is no obstacle:
/// extended key usage (``CertificateProfile``, before a certificate becomes a candidate) and, on paths that have them,
/// name constraints (``NameConstraintsCheck``). On such a path RFC 5280 policy, which cannot be had without its name
/// constraints, is not asked: validity, CA flags and path lengths are the profile's and the search's there.
struct PathRulesPolicy: VerifierPolicy {
    private let rfc5280: RFC5280Policy
    private var serverIdentity: ServerIdentityPolicy?
    private let isConstrained: Bool

    /// The critical extensions that are policed.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier]

    /// Creates the policy for one path.
    ///
    /// - Parameters:
    ///   - identity: Whose certificate the leaf must be.
    ///   - time: The time at which all certificates must be valid.
    ///   - isConstrained: Whether a certificate of the path has name constraints, which have been checked.
    init(identity: ServerIdentity, at time: Timestamp, isConstrained: Bool) {
        self.rfc5280 = RFC5280Policy(
            fixedExpiryValidationTime: Date(timeIntervalSince1970: Double(time.secondsSince1970)))
        self.isConstrained = isConstrained
        self.verifyingCriticalExtensions = Array(CertificateProfile.knownCriticalExtensions)
        if case .host(let host) = identity {
            self.serverIdentity = ServerIdentityPolicy(
                serverHostname: host.isAddress ? nil : host.description,
                serverIP: host.isAddress ? host.description : nil)
        }
    }

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        if !self.isConstrained,
            case .failsToMeetPolicy(let reason) = self.rfc5280.chainMeetsPolicyRequirements(chain: chain)
        {
            return .failsToMeetPolicy(reason: reason)
        }
        return self.serverIdentity?.chainMeetsPolicyRequirements(chain: chain) ?? .meetsPolicy
    }
}
#endif
