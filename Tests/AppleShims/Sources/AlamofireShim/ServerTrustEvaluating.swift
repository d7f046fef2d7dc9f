// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import SecurityShim

/// Alamofire's protocol for what judges a server's trust, as its documentation has it.
public protocol ServerTrustEvaluating: Sendable {
    /// Throws when the server is not trusted.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

/// What says who judges which host.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused.
    public let allHostsMustBeEvaluated: Bool
    /// Who judges which host.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// A manager.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
    }

    /// Who judges a host.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        self.evaluators[host]
    }
}
