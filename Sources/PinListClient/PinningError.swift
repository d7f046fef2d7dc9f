// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation

/// A connection that pinning refused.
public struct PinningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The decision, with the pins that were seen and the list that decided.
    public let decision: PinningDecision

    /// Creates the error of a decision.
    public init(_ decision: PinningDecision) { self.decision = decision }

    /// The host, normalised.
    public var host: String { self.decision.host }

    /// The decision's text.
    public var description: String { self.decision.description }
}

/// The URL that an error of Foundation's URL loading is about.
enum FailingURL {
    /// The codes of `URLError` under which a refused challenge comes to the caller: cancelled, and those of a secure
    /// connection that failed. Any other error is the network's, even after an earlier refusal.
    private static let codes: Set<Int> = [-999, -1200, -1201, -1202, -1203, -1204]

    /// The host of that URL; `nil` for an error that pinning cannot have caused.
    static func host(of error: any Error) -> String? {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain, Self.codes.contains(error.code) else { return nil }
        let url = error.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        return url.flatMap { RequestTarget($0.absoluteString) }?.host
    }
}
