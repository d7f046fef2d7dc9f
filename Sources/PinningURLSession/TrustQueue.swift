// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Dispatch
internal import Foundation

/// The queues on which trust objects are evaluated: never on the main thread, never on that of a delegate, and a few at
/// a time.
///
/// An evaluation may wait for the network (intermediates, revocation). A queue that gives each a thread of its own would
/// use up all threads that the system has for the process when many connections are opened at once.
enum TrustQueue {
    /// The maximum number of concurrent evaluations of a queue: the system has some 64 threads for a process.
    static let maximum = 4

    /// The evaluations for the app's own sessions and connections.
    static let evaluations = queue("PinningURLSession.trust")
    /// The evaluations for web views. A page chooses its servers, and some keep the system waiting (for an issuer, or for what is
    /// revoked): they take places here, and none of the app's own.
    static let pages = queue("PinningURLSession.pages")

    private static func queue(_ name: String) -> OperationQueue {
        let queue = OperationQueue()
        queue.name = name
        queue.qualityOfService = .userInitiated
        queue.maxConcurrentOperationCount = maximum
        return queue
    }

    /// The queue on which Network.framework calls; nothing is evaluated on it.
    static let handshakes = DispatchQueue(label: "PinningURLSession.handshakes", qos: .userInitiated)
    /// The queue for evaluations that a caller waits for; they never use the network.
    static let names = DispatchQueue(label: "PinningURLSession.names", qos: .userInitiated)

    /// Evaluates when it is its turn.
    static func evaluate(isWebView: Bool = false, _ body: @escaping @Sendable () -> Void) {
        (isWebView ? self.pages : self.evaluations).addOperation(body)
    }
}

/// A value that is given to one block and used by that block alone.
///
/// `@unchecked Sendable`: because the giver does not use it afterwards.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
#endif
