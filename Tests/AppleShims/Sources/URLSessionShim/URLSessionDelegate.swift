// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a session tells and asks. Every method is optional on Apple's platforms, and has a default here.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session is over.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A challenge of a connection: server trust, client certificate, NTLM, Negotiate.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// All events of a background session were told.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Not implemented: nothing happens.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Not implemented: the method for tasks is asked; default handling when the challenge was forwarded later.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenge.leaveUnanswered { completionHandler(.performDefaultHandling, nil) }
    }

    /// Not implemented: nothing happens.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}
