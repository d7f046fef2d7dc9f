// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How roots and lists come from outside. A protocol, so that each platform brings its own transport, and tests theirs.
///
/// A fetcher speaks under the platform's default validation alone: no pin applies to its requests, so that a bad list
/// can never keep out its replacement. It follows at most three redirects, to `https` alone (`http` to loopback
/// addresses), sends no cookies and no credentials (formats.md, section 7).
public protocol ListFetcher: Sendable {
    /// Gets a resource.
    ///
    /// - Throws: ``FetchError``; anything else counts as one.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// What is fetched.
public struct FetchRequest: Hashable, Sendable {
    /// The longest wait for the first byte, in seconds.
    public static let firstByteSeconds = 10.0
    /// The longest wait for all of it, in seconds.
    public static let totalSeconds = 15.0
    /// The most redirects.
    public static let redirects = 3

    /// The absolute address.
    public let address: String
    /// The most bytes of the body: reading stops there.
    public let maximumBytes: Int
    /// What `If-None-Match` says, quotation marks included; `nil` for no such header.
    public let ifNoneMatch: String?

    /// Creates a request.
    public init(address: String, maximumBytes: Int, ifNoneMatch: String? = nil) {
        self.address = address
        self.maximumBytes = maximumBytes
        self.ifNoneMatch = ifNoneMatch
    }
}

/// What a server answered.
public struct FetchResponse: Hashable, Sendable {
    /// The status code of HTTP.
    public let status: Int
    /// The body, as it is.
    public let body: [UInt8]
    /// What `Retry-After` asks for.
    public let retryAfter: RetryAfter?
    /// The fields whose names begin with `Tumbler-`, by their names in lower case. Empty from a transport that does not
    /// tell them.
    public let fields: [String: String]

    /// Creates a response.
    public init(
        status: Int, body: [UInt8] = [], retryAfter: RetryAfter? = nil, fields: [String: String] = [:]
    ) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.fields = fields
    }
}

/// Why nothing was fetched.
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// No connection, or it broke.
        public static let network = Code(description: "network")
        /// It took too long.
        public static let timeout = Code(description: "timeout")
        /// The body is longer than is read.
        public static let tooLarge = Code(description: "too-large")
        /// An answer that is none to this request.
        public static let status = Code(description: "status")
        /// An answer that is another file than the one that was asked for by its digest.
        public static let wrongFile = Code(description: "wrong-file")
        /// A redirect that is not followed.
        public static let redirect = Code(description: "redirect")
    }

    /// What went wrong.
    public let code: Code
    /// In one sentence without a full stop.
    public let reason: String
    /// What `Retry-After` asked for.
    public var retryAfter: RetryAfter?

    /// States a failure.
    public init(_ code: Code, _ reason: String, retryAfter: RetryAfter? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The reason.
    public var description: String { self.reason }
}
