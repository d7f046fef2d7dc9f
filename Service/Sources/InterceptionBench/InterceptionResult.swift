// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The result of one case.
public struct InterceptionResult: Sendable {
    /// The outcome of a case.
    public enum Outcome: String, Sendable {
        /// No client came that said anything, and in the case `slow` waited for the certificates.
        case noClientCame = "no client came"
        /// Clients came, and not one byte of a request.
        case refused = "refused before a byte"
        /// Bytes of a request came.
        case accepted = "ACCEPTED"
    }

    /// The case.
    public let played: InterceptionCase
    /// Whether a right client sends its request: in the control, and where the given pins match what is presented.
    public let mayAccept: Bool
    /// Connections on which a client said something; in the case `slow` those that still were when the certificates came.
    public internal(set) var connections = 0
    /// TLS handshakes that were completed, as the bench sees them.
    public internal(set) var handshakes = 0
    /// The bytes of requests that the interceptor could read. Of HTTP/2 the header fields and the bodies, as text; of the
    /// control, which is not decrypted, what its TLS records hold.
    public internal(set) var requestBytes = 0

    init(_ played: InterceptionCase, mayAccept: Bool) {
        self.played = played
        self.mayAccept = mayAccept
    }

    /// The outcome of the case.
    public var outcome: Outcome {
        self.requestBytes > 0 ? .accepted : self.connections > 0 ? .refused : .noClientCame
    }

    /// Whether a client sent something that it should not have sent.
    public var isFailure: Bool { self.outcome == .accepted && !self.mayAccept }

    /// The outcome in words: `refused before a byte`, `ACCEPTED: 412 request bytes` or `no client came`.
    public var line: String {
        self.outcome == .accepted ? "ACCEPTED: \(self.requestBytes) request bytes" : self.outcome.rawValue
    }
}

/// Counts what comes to one case, from many event loops.
final class InterceptionTally: Sendable {
    private let box: NIOLockedValueBox<InterceptionResult>

    init(_ result: InterceptionResult) { self.box = NIOLockedValueBox(result) }

    /// The result so far.
    var result: InterceptionResult { self.box.withLockedValue { $0 } }

    /// Counts.
    func count(_ change: (inout InterceptionResult) -> Void) { self.box.withLockedValue { change(&$0) } }

    /// Counts bytes of a request.
    func count(requestBytes: Int) {
        self.box.withLockedValue { result in
            let (sum, isOver) = result.requestBytes.addingReportingOverflow(max(0, requestBytes))
            result.requestBytes = isOver ? .max : sum
        }
    }
}

/// One case while it is played.
final class InterceptionPlay: Sendable {
    let played: InterceptionCase
    let identity: InterceptorIdentity
    let server: InterceptedServer
    let tally: InterceptionTally
    private let relayed = NIOLockedValueBox(false)

    init(_ played: InterceptionCase, _ identity: InterceptorIdentity, _ server: InterceptedServer, mayAccept: Bool) {
        self.played = played
        self.identity = identity
        self.server = server
        self.tally = InterceptionTally(InterceptionResult(played, mayAccept: mayAccept))
    }

    /// Whether the next connection is passed on to the server. Asking takes the turn.
    func takesRelay() -> Bool {
        switch self.played.way {
        case .relayed: true
        case .relayedOnce:
            self.relayed.withLockedValue { wasRelayed in
                defer { wasRelayed = true }
                return !wasRelayed
            }
        default: false
        }
    }
}
