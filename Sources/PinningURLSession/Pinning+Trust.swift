// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
public import CertificatePinning
public import PinListClient
public import Security

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension Pinning {
    /// Decides on a trust object, for networking stacks that expose one: the platform validates it for the host
    /// first, then the validated path is evaluated.
    ///
    /// It blocks while the platform validates, which may ask the network: call it where the stack calls its own
    /// validation, not on the main thread. The object is not changed.
    ///
    /// - Parameters:
    ///   - trust: The trust object of the server.
    ///   - host: The host that the connection is made for, without a port.
    ///   - connection: The facts about the connection for reports.
    /// - Returns: The decision; `chain-invalid` where the platform refuses.
    public nonisolated func evaluate(
        trust: SecTrust, host: String, connection: ConnectionFacts = ConnectionFacts()
    ) -> PinningDecision {
        guard let name = try? HostName(host) else {
            return self.refusal(of: host, .hostInvalid, connection: connection)
        }
        switch SystemTrust.validate(trust, for: name, revocation: self.revocation) {
        case .success(let path):
            return self.decision(for: path, host: host, connection: connection)
        case .failure(let failure):
            return self.refusal(of: host, failure.reason, detail: failure.detail, connection: connection)
        }
    }

    /// Answers a challenge for a server's trust: cancelled when it is refused, and left to the platform otherwise, whose
    /// own validation and App Transport Security then have the last word.
    ///
    /// It evaluates the challenge alone. ``PinnedSessionDelegate`` also checks each response, refuses cleartext, and evaluates open
    /// connections again when a list denies their key.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - isWebView: Whether a web view asks: failures of hosts that no entry covers are then not reported.
    ///   - completionHandler: Called once, on a queue of the library.
    /// - Returns: `false` for another kind of challenge (a password, a client's certificate): the caller must answer
    ///   it, and the handler is not called.
    public nonisolated func answer(
        _ challenge: URLAuthenticationChallenge, isWebView: Bool = false,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> Bool {
        guard challenge.isForServerTrust else { return false }
        self.evaluate(challenge, isWebView: isWebView) { decision in
            completionHandler(decision.verdict.disposition, nil)
        }
        return true
    }

    /// Evaluates a challenge for a server's trust, on a queue of the library.
    nonisolated func evaluate(
        _ challenge: URLAuthenticationChallenge, isWebView: Bool,
        then answer: @escaping @Sendable (PinningDecision) -> Void
    ) {
        let space = challenge.protectionSpace
        let facts = ConnectionFacts(port: space.port, isWebView: isWebView)
        let host = space.host
        let trust = space.serverTrust.map { HandedOver($0) }
        TrustQueue.evaluate(isWebView: isWebView) {
            guard let trust else { return answer(self.refusal(of: host, .noCertificates, connection: facts)) }
            answer(self.evaluate(trust: trust.value, host: host, connection: facts))
        }
    }
}

extension URLAuthenticationChallenge {
    /// Whether the challenge is for the server's trust.
    var isForServerTrust: Bool { self.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust }
}

extension PinningDecision.Verdict {
    /// The answer to a challenge. Never a credential made from the trust object, which would replace the
    /// platform's validation.
    var disposition: URLSession.AuthChallengeDisposition {
        self == .allow ? .performDefaultHandling : .cancelAuthenticationChallenge
    }
}
#endif
