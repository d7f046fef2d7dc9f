// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import PinningURLSession
import Security

/// The same app, pinned by a signed list.
let pinning = try Pinning(
    root: .bundled("tumbler-root"), list: .bundled("tumbler-pins"),
    refreshFrom: URL(string: "https://pins.example.com/v1/lists/com.example.app"))
let refreshes = Task { await pinning.run() }
let session = URLSession.pinned(by: pinning, configuration: .ephemeral)
if let address = CommandLine.arguments.dropFirst().first, let url = URL(string: address) {
    print(try await session.data(from: url).0.count)
}
if let certificate = SecCertificateCreateWithData(nil, Data() as CFData) {
    var trust: SecTrust?
    SecTrustCreateWithCertificates([certificate] as CFArray, SecPolicyCreateSSL(true, "example.com"), &trust)
    if let trust { print(SecTrustEvaluateWithError(trust, nil)) }
}
refreshes.cancel()
