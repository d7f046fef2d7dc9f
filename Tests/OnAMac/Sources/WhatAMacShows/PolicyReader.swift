// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Reads the policies of a challenge's trust object, in a session that is not pinned.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class PolicyReader: NSObject, URLSessionDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var found: [String] = []

    /// The hosts that the policies name.
    var names: [String] {
        self.lock.lock()
        defer { self.lock.unlock() }
        return self.found
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        defer { completionHandler(.performDefaultHandling, nil) }
        var policies: CFArray?
        guard let trust = challenge.protectionSpace.serverTrust,
            SecTrustCopyPolicies(trust, &policies) == errSecSuccess, let policies = policies as? [SecPolicy]
        else { return }
        self.lock.lock()
        defer { self.lock.unlock() }
        for policy in policies {
            let properties = SecPolicyCopyProperties(policy) as? [String: Any]
            self.found.append(properties?[kSecPolicyName as String] as? String ?? "nobody")
        }
    }
}
