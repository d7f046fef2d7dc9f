// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a session tells and asks. Every method is optional on Apple's platforms, and has a default here.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// Whether there is a method, by its name in Objective-C. On Apple's platforms every object has it, and answers for its
    /// class; here a delegate that says nothing has all methods, of which the defaults do what is done without them.
    func responds(to selector: Selector!) -> Bool

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
    /// Not implemented: all methods are there.
    public func responds(to selector: Selector!) -> Bool { true }

    /// The delegate, if it has a method.
    func having(_ method: String) -> Self? { self.responds(to: NSSelectorFromString(method)) ? self : nil }

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
