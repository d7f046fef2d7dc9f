// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The transport for roots and lists. A protocol, so that each platform and each test brings its own.
///
/// A fetcher speaks under the platform's default validation alone: no pin applies to its requests, so that a bad list
/// can never keep out its replacement. It follows at most three redirects, to `https` alone (`http` to loopback
/// addresses), sends no cookies and no credentials (formats.md, section 7).
public protocol ListFetcher: Sendable {
    /// Gets a resource.
    ///
    /// - Throws: ``FetchError``; any other error counts as one.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// A request for a resource.
public struct FetchRequest: Hashable, Sendable {
    /// The maximum wait for the first byte, in seconds: a mobile network that wakes up.
    public static let firstByteSeconds = 10.0
    /// The maximum wait for the whole body, in seconds: a background refresh of Apple's has about 30.
    public static let totalSeconds = 15.0
    /// The maximum number of redirects (formats.md, section 7).
    public static let redirects = 3

    /// The absolute address.
    public let address: String
    /// The maximum length of the body in bytes: reading stops there.
    public let maximumBytes: Int
    /// The value of `If-None-Match`, quotation marks included; `nil` for no such header.
    public let ifNoneMatch: String?

    /// Creates a request.
    public init(address: String, maximumBytes: Int, ifNoneMatch: String? = nil) {
        self.address = address
        self.maximumBytes = maximumBytes
        self.ifNoneMatch = ifNoneMatch
    }
}

/// The response of a server.
public struct FetchResponse: Hashable, Sendable {
    /// The status code of HTTP.
    public let status: Int
    /// The body.
    public let body: [UInt8]
    /// The value of `Retry-After`.
    public let retryAfter: RetryAfter?
    /// The fields whose names begin with `Tumbler-`, by their names in lower case. Empty for a transport that does not
    /// pass them on.
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

/// The failure of a request.
public struct FetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// There was no connection, or it broke.
        public static let network = Code(description: "network")
        /// The request took too long.
        public static let timeout = Code(description: "timeout")
        /// The body is over the limit.
        public static let tooLarge = Code(description: "too-large")
        /// The response does not fit the request.
        public static let status = Code(description: "status")
        /// The file does not have the digest that was asked for.
        public static let wrongFile = Code(description: "wrong-file")
        /// The response is a redirect that is not followed.
        public static let redirect = Code(description: "redirect")
        /// The task that asked for a refresh was cancelled.
        public static let cancelled = Code(description: "cancelled")
    }

    /// The kind of failure.
    public let code: Code
    /// The explanation, in one sentence without a full stop.
    public let reason: String
    /// The value of `Retry-After`.
    public var retryAfter: RetryAfter?

    /// Creates a failure.
    public init(_ code: Code, _ reason: String, retryAfter: RetryAfter? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The reason.
    public var description: String { self.reason }

    /// The failure of a refresh whose task was cancelled.
    static let cancelled = FetchError(.cancelled, "the task was cancelled")
}
