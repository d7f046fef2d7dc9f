// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Dispatch
internal import Foundation
internal import PinListClient
internal import Security

/// The platform's validation of a presented chain. A path that the platform refuses is never accepted here.
enum SystemTrust {
    /// The reason why there is no validated path.
    struct EvaluationError: Error {
        let reason: PinningDecision.Reason
        let detail: String
    }

    /// Validates a trust object for a host, and gives the path that was validated.
    ///
    /// The object that is given is evaluated as it is and never changed: it may hold what the handshake brought (OCSP,
    /// certificate timestamps). Where it is not under the TLS policy for this host, or revocation is asked for, its
    /// certificates are evaluated once more, in an object of our own that is. Both must hold. The object of our own has neither staples nor
    /// timestamps: where the system asks for them, the first evaluation has seen them.
    ///
    /// May ask the network (intermediates, revocation), so it is not for the main thread.
    static func validate(
        _ trust: SecTrust, for host: HostName, revocation: SystemRevocation = .system
    ) -> Result<ValidatedPath, EvaluationError> {
        if let failure = self.evaluate(trust) { return .failure(failure) }
        guard revocation != .system || !self.isUnderPolicy(for: host, trust) else { return self.path(of: trust) }
        guard let asked = self.policies(of: revocation) else {
            return .failure(
                EvaluationError(reason: .chainInvalid, detail: "the system cannot be asked about revocation"))
        }
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], !chain.isEmpty,
            let own = self.trust(chain, for: host, and: asked)
        else { return .failure(EvaluationError(reason: .noCertificates, detail: "the system shows no certificates")) }
        var anchors: CFArray?
        if SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess, let anchors {
            SecTrustSetAnchorCertificates(own, anchors)
            // Custom anchors may extend the system's; if they replace them, the first evaluation used them alone.
            SecTrustSetAnchorCertificatesOnly(own, false)
        }
        if let failure = self.evaluate(own) { return .failure(failure) }
        return self.path(of: own)
    }

    /// Whether a path that was validated for one host is valid for another one, too.
    ///
    /// Called where the answer is needed at once, perhaps on the main thread. The calling thread only waits: the
    /// evaluation runs on another one, without the network. Only the certificates of the handshake are left; its
    /// stapled responses and certificate timestamps counted when the path was validated.
    static func isValid(_ path: ValidatedPath, for host: HostName) -> Bool {
        let answer = Answer()
        let question = DispatchWorkItem { answer.isValid = self.isValidHere(path, for: host) }
        TrustQueue.names.async(execute: question)
        question.wait()
        return answer.isValid
    }

    /// `@unchecked Sendable`: because it is written before the wait for it ends, and read after.
    private final class Answer: @unchecked Sendable {
        var isValid = false
    }

    private static func isValidHere(_ path: ValidatedPath, for host: HostName) -> Bool {
        let chain = path.certificates.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        guard chain.count == path.certificates.count, let anchor = chain.last, let own = self.trust(chain, for: host)
        else { return false }
        // The path was validated: the question is only whether it is for this host, which needs no network.
        SecTrustSetAnchorCertificates(own, [anchor] as CFArray)
        SecTrustSetNetworkFetchAllowed(own, false)
        return self.evaluate(own) == nil
    }

    private static func trust(
        _ chain: [SecCertificate], for host: HostName, and others: [SecPolicy] = []
    ) -> SecTrust? {
        var trust: SecTrust?
        let policies = [SecPolicyCreateSSL(true, host.description as CFString)] + others
        guard SecTrustCreateWithCertificates(chain as CFArray, policies as CFArray, &trust) == errSecSuccess else {
            return nil
        }
        return trust
    }

    /// The policies that ask about revocation; `nil` when the system makes none.
    private static func policies(of revocation: SystemRevocation) -> [SecPolicy]? {
        let flags: CFOptionFlags
        switch revocation {
        case .system: return []
        case .checked: flags = kSecRevocationUseAnyAvailableMethod
        case .required: flags = kSecRevocationUseAnyAvailableMethod | kSecRevocationRequirePositiveResponse
        }
        return SecPolicyCreateRevocation(flags).map { [$0] }
    }

    private static func evaluate(_ trust: SecTrust) -> EvaluationError? {
        var error: CFError?
        guard !SecTrustEvaluateWithError(trust, &error) else { return nil }
        let detail = (error as (any Error)?)?.localizedDescription ?? "the system does not say why"
        return EvaluationError(reason: .chainInvalid, detail: detail)
    }

    /// Whether the object has the TLS policy for this host.
    private static func isUnderPolicy(for host: HostName, _ trust: SecTrust) -> Bool {
        var policies: CFArray?
        guard SecTrustCopyPolicies(trust, &policies) == errSecSuccess, let policies = policies as? [SecPolicy] else {
            return false
        }
        return policies.contains { policy in
            guard let properties = SecPolicyCopyProperties(policy) as? [String: Any],
                properties[kSecPolicyOid as String] as? String == kSecPolicyAppleSSL as String,
                properties[kSecPolicyClient as String] as? Bool != true,
                let name = properties[kSecPolicyName as String] as? String
            else { return false }
            return (try? HostName(name)) == host
        }
    }

    private static func path(of trust: SecTrust) -> Result<ValidatedPath, EvaluationError> {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], !chain.isEmpty else {
            return .failure(EvaluationError(reason: .noCertificates, detail: "the system shows no validated path"))
        }
        let certificates = chain.map { [UInt8](SecCertificateCopyData($0) as Data) }
        return .success(ValidatedPath(uncheckedValidatedPath: certificates))
    }
}
#endif
