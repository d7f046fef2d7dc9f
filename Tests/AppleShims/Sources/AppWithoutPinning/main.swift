// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security

/// What an app without pinning links: a session, and the system's validation. Measured by its size alone.
let session = URLSession(configuration: .ephemeral)
if let address = CommandLine.arguments.dropFirst().first, let url = URL(string: address) {
    print(try await session.data(from: url).0.count)
}
if let certificate = SecCertificateCreateWithData(nil, Data() as CFData) {
    var trust: SecTrust?
    SecTrustCreateWithCertificates([certificate] as CFArray, SecPolicyCreateSSL(true, "example.com"), &trust)
    if let trust { print(SecTrustEvaluateWithError(trust, nil)) }
}
