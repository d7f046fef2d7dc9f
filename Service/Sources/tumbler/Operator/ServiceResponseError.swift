// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import NIOCore
@_spi(Tools) import PinningNIO

/// The reason for which there is no whole answer of a service.
struct ServiceResponseError: Error {
    /// The reason, without a full stop.
    let reason: String

    /// Whether the service may have got the request, and done what it says. A publisher must know.
    let mayHaveArrived: Bool

    /// The next step, where that can be said.
    let hint: String?

    /// States why.
    init(_ reason: String, mayHaveArrived: Bool, hint: String? = nil) {
        self.reason = reason
        self.mayHaveArrived = mayHaveArrived
        self.hint = hint
    }

    /// The failure of the network, in words.
    ///
    /// - Parameters:
    ///   - error: What a library threw.
    ///   - connections: How the service was asked.
    init(_ error: any Error, _ connections: Connections) {
        if let failure = error as? CommandError {
            self.init(failure.message, mayHaveArrived: false, hint: failure.hint)
            return
        }
        let answer = connections.totalTimeout ?? ServiceClient.totalTimeout
        let problem = NetworkProblem(
            error,
            NetworkProblem.Limits(connect: TimeAmount(connections.connectTimeout), answer: TimeAmount(answer)))
        self.init(problem.description, mayHaveArrived: problem.mayHaveArrived, hint: problem.hint)
    }
}
