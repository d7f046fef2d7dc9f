// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Who waits for the answer in the old way, by messages.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Answers with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Answers without one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Gives up.
    func cancel(_ challenge: URLAuthenticationChallenge)
}

/// A question before a connection or a request goes on.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    /// What is asked, by whom.
    public let protectionSpace: URLProtectionSpace
    /// What the system would answer.
    public let proposedCredential: URLCredential?
    /// How many answers were refused before.
    public let previousFailureCount: Int
    /// The response that the question came with.
    public let failureResponse: URLResponse?
    /// The error that the question came with.
    public let error: (any Error)?
    /// Who waits for the answer.
    public let sender: (any URLAuthenticationChallengeSender)?
    private let lock = NSLock()
    private var isBeingDelivered = false
    private var isUnanswered = false

    /// A challenge.
    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.protectionSpace = space
        self.proposedCredential = credential
        self.previousFailureCount = previousFailureCount
        self.failureResponse = response
        self.error = error
        self.sender = sender
    }

    /// The same challenge for another sender.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            protectionSpace: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
            previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
            error: challenge.error, sender: sender)
    }

    /// Calls a delegate's method with the challenge, and says whether there was one: not only a default implementation.
    package func deliver(_ method: () -> Void) -> Bool {
        self.lock.withLock {
            self.isBeingDelivered = true
            self.isUnanswered = false
        }
        method()
        return self.lock.withLock {
            self.isBeingDelivered = false
            return !self.isUnanswered
        }
    }

    /// What a default implementation does: says that there is no other, to whom delivers the challenge. When no
    /// delegate does any more, because the challenge was forwarded later, it answers.
    package func leaveUnanswered(or answer: () -> Void) {
        let isTold = self.lock.withLock {
            self.isUnanswered = true
            return self.isBeingDelivered
        }
        if !isTold { answer() }
    }

    /// A challenge that is answered by a completion handler.
    package init(_ space: URLProtectionSpace, previousFailureCount: Int = 0) {
        self.protectionSpace = space
        self.proposedCredential = nil
        self.previousFailureCount = previousFailureCount
        self.failureResponse = nil
        self.error = nil
        self.sender = nil
    }
}
