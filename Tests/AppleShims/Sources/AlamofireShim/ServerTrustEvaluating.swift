// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import SecurityShim

/// Alamofire's protocol for what evaluates a server's trust, as its documentation has it.
public protocol ServerTrustEvaluating: Sendable {
    /// Throws when the server is not trusted.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}
