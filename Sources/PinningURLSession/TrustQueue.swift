// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Dispatch
internal import Foundation

/// Where trust objects are evaluated: never on the main thread, never on that of a delegate, and a few at a time.
///
/// An evaluation may wait for the network (intermediates, revocation). A queue that gives each a thread of its own would
/// use up all threads that the system has for the process when many connections are opened at once.
enum TrustQueue {
    /// The most evaluations at a time.
    static let maximum = 4

    /// Where they wait for their turn.
    static let evaluations: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "PinningURLSession.trust"
        queue.qualityOfService = .userInitiated
        queue.maxConcurrentOperationCount = maximum
        return queue
    }()

    /// Where Network.framework asks; nothing is evaluated on it.
    static let handshakes = DispatchQueue(label: "PinningURLSession.handshakes", qos: .userInitiated)
    /// For what somebody waits for; it never asks the network.
    static let names = DispatchQueue(label: "PinningURLSession.names", qos: .userInitiated)

    /// Evaluates when it is its turn.
    static func evaluate(_ body: @escaping @Sendable () -> Void) { self.evaluations.addOperation(body) }
}

/// What is given to one block and used by that block alone.
///
/// `@unchecked Sendable`: because who gives it away does not use it afterwards.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
#endif
