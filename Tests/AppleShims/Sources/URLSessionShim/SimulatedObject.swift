// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// A protocol of Objective-C is a list of names: an object may have a method without declaring the protocol, and a subclass
// may add one that its superclass has none of. Swift's protocols know neither.

/// What is not Apple's: a delegate of Objective-C that declares `URLSessionDelegate` alone and has more.
public protocol SimulatedUndeclaredMethods: URLSessionDelegate {
    /// Who has the methods.
    var undeclared: any URLSessionDelegate { get }
}

/// What is not Apple's: a delegate whose subclass has added the session's method for challenges. URLSession finds it by its
/// name.
public protocol SimulatedAddedMethod: URLSessionDelegate {
    /// The method that was added.
    func addedUrlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

private func role<Role>(_ delegate: (any URLSessionDelegate)?) -> Role? {
    ((delegate as? any SimulatedUndeclaredMethods)?.undeclared ?? delegate) as? Role
}

/// Stands for the standard library's: a value of a protocol of Objective-C is the object.
public func unsafeBitCast(
    _ x: (any URLSessionDelegate)?, to type: (any URLSessionTaskDelegate)?.Type
) -> (any URLSessionTaskDelegate)? { role(x) }

/// Stands for the standard library's.
public func unsafeBitCast(
    _ x: (any URLSessionDelegate)?, to type: (any URLSessionDataDelegate)?.Type
) -> (any URLSessionDataDelegate)? { role(x) }

/// Stands for the standard library's.
public func unsafeBitCast(
    _ x: (any URLSessionDelegate)?, to type: (any URLSessionDownloadDelegate)?.Type
) -> (any URLSessionDownloadDelegate)? { role(x) }

/// Stands for the standard library's.
public func unsafeBitCast(
    _ x: (any URLSessionDelegate)?, to type: (any URLSessionStreamDelegate)?.Type
) -> (any URLSessionStreamDelegate)? { role(x) }

/// Stands for the standard library's.
public func unsafeBitCast(
    _ x: (any URLSessionDelegate)?, to type: (any URLSessionWebSocketDelegate)?.Type
) -> (any URLSessionWebSocketDelegate)? { role(x) }
