// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security

/// Trust objects as other stacks make them.
enum HandMade {
    /// A trust object for what a server presents.
    static func trust(_ chain: [[UInt8]], _ policy: SecPolicy) -> SecTrust? {
        let certificates = chain.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        guard certificates.count == chain.count else { return nil }
        var trust: SecTrust?
        SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust)
        return trust
    }

    /// The same for some certificates.
    static func trust(_ chain: [TestCertificate], _ policy: SecPolicy) -> SecTrust? {
        self.trust(chain.map(\.der), policy)
    }
}
