// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SwiftASN1
@_spi(FixedExpiryValidationTime) internal import X509

/// One evaluation of a trust object, by swift-certificates.
struct Evaluation {
    private let presented: [SecCertificate]
    private let policies: [SecPolicy]
    private let anchors: [SecCertificate]
    private let time: Date

    init(_ question: SecTrust.Question) {
        self.presented = question.presented
        self.policies = question.policies
        self.time = question.time ?? SimulatedSystem.time(for: question)
        let usesSystem = !(question.anchorsOnly ?? (question.anchors != nil))
        self.anchors = (question.anchors ?? []) + (usesSystem ? SimulatedSystem.anchors : [])
    }

    /// The validated path, or why there is none: all policies must agree, and the first one's path counts.
    func run() -> SecTrust.Outcome {
        guard let leaf = self.presented.first, !self.policies.isEmpty else { return .failure(errSecParam) }
        var found: [SecCertificate]?
        for policy in self.policies {
            if case .revocation(let flags) = policy.kind, flags & kSecRevocationRequirePositiveResponse != 0,
                !SimulatedSystem.isGood(leaf)
            {
                return .failure(errSecNotTrusted)
            }
            guard let path = self.path(for: policy) else { return .failure(self.reason(leaf, policy)) }
            found = found ?? path
        }
        if let status = self.policies.lazy.compactMap({ Self.refusedPurpose(leaf, $0) }).first {
            return .failure(status)
        }
        return found.map { .path($0) } ?? .failure(errSecNotTrusted)
    }

    /// The path for a policy, waited for: the verifier is asynchronous, and this call is not.
    ///
    /// The verifier runs in a task of its own. It never suspends for long and calls no other code, so nothing that the
    /// task needs waits for a thread that waits here. So that even a caller on the cooperative pool cannot starve it,
    /// the task runs on an executor of its own.
    private func path(for policy: SecPolicy, at time: Date? = nil) -> [SecCertificate]? {
        guard let leaf = self.presented.first?.certificate else { return nil }
        let roots = CertificateStore(self.anchors.map(\.certificate))
        let intermediates = CertificateStore(self.presented.dropFirst().map(\.certificate))
        let time = time ?? self.time
        let host: String? = if case .ssl(true, let host) = policy.kind { host } else { nil }
        let answer = Waiting<[Certificate]?>(nil)
        Task.detached(executorPreference: Bystander.executor) {
            var verifier = Verifier(rootCertificates: roots) {
                RFC5280Policy(fixedExpiryValidationTime: time)
                if let host {
                    Self.identity(of: host)
                }
            }
            let result = await verifier.validate(leaf: leaf, intermediates: intermediates)
            if case .validCertificate(let path) = result { answer.give(Array(path)) } else { answer.give(nil) }
        }
        return answer.wait()?.compactMap(Self.serialized)
    }

    private static func identity(of host: String) -> ServerIdentityPolicy {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let isAddress = bare.contains(":") || bare.split(separator: ".").allSatisfy { UInt8($0) != nil }
        return ServerIdentityPolicy(serverHostname: isAddress ? nil : bare, serverIP: isAddress ? bare : nil)
    }

    private static func serialized(_ certificate: Certificate) -> SecCertificate? {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(certificate)) != nil else { return nil }
        return SecCertificate(der: serializer.serializedBytes)
    }

    /// A guess at why, in the order in which Apple's is told.
    private func reason(_ leaf: SecCertificate, _ policy: SecPolicy) -> OSStatus {
        if self.time > leaf.certificate.notValidAfter { return errSecCertificateExpired }
        if self.time < leaf.certificate.notValidBefore { return errSecCertificateNotValidYet }
        let isTrusted = self.path(for: SecPolicyCreateBasicX509()) != nil
        if case .ssl = policy.kind, isTrusted { return errSecHostNameMismatch }
        return errSecNotTrusted
    }

    /// A leaf whose purposes leave TLS out is refused by the policy for TLS.
    private static func refusedPurpose(_ leaf: SecCertificate, _ policy: SecPolicy) -> OSStatus? {
        guard case .ssl(let isServer, _) = policy.kind else { return nil }
        guard let purposes = try? leaf.certificate.extensions.extendedKeyUsage else { return nil }
        let wanted: ExtendedKeyUsage.Usage = isServer ? .serverAuth : .clientAuth
        return purposes.contains(where: { $0 == wanted || $0 == .any }) ? nil : errSecInvalidExtendedKeyUsage
    }
}
