// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecurityShim

/// What was measured of a task. `Sendable`: because nothing of it changes.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    /// One for each request and its response.
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]
    /// From the beginning to the end.
    public let taskInterval: DateInterval
    /// How many redirects there were.
    public let redirectCount: Int

    init(transactionMetrics: [URLSessionTaskTransactionMetrics], taskInterval: DateInterval, redirectCount: Int) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }

    /// Where a response came from.
    public enum ResourceFetchType: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Over the network.
        case networkLoad = 1
        /// Pushed by the server.
        case serverPush = 2
        /// From the local cache.
        case localCache = 3
    }
}

/// What was measured of one request and its response. `Sendable`: because nothing of it changes.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    /// What is measured.
    struct Values {
        var request: URLRequest
        var response: URLResponse?
        var fetchStart: Date?
        var secureConnectionStart: Date?
        var responseEnd: Date?
        var isReused = false
        var isProxy = false
        var version: String?
        var fetchType = URLSessionTaskMetrics.ResourceFetchType.networkLoad
        var local: (address: String, port: Int)?
        var remote: (address: String, port: Int)?
        var bytesSent: Int64 = 0
    }

    private let values: Values

    init(_ values: Values) { self.values = values }

    /// The request.
    open var request: URLRequest { self.values.request }
    /// The response; `nil` when there was none.
    open var response: URLResponse? { self.values.response }
    /// When it began.
    open var fetchStartDate: Date? { self.values.fetchStart }
    /// When the connection began; `nil` for one that was open.
    open var connectStartDate: Date? { self.values.secureConnectionStart }
    /// When TLS began; `nil` for a connection that was open.
    open var secureConnectionStartDate: Date? { self.values.secureConnectionStart }
    /// When TLS was done.
    open var secureConnectionEndDate: Date? { self.values.secureConnectionStart }
    /// When the response was whole.
    open var responseEndDate: Date? { self.values.responseEnd }
    /// `http/1.1`, `h2` or `h3`.
    open var networkProtocolName: String? { self.values.version }
    /// Whether the connection was a proxy's.
    open var isProxyConnection: Bool { self.values.isProxy }
    /// Whether the connection was open before.
    open var isReusedConnection: Bool { self.values.isReused }
    /// Where the response came from.
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { self.values.fetchType }
    /// How many bytes of the request's body were sent.
    open var countOfRequestBodyBytesSent: Int64 { self.values.bytesSent }
    /// The address of this end.
    open var localAddress: String? { self.values.local?.address }
    /// The port of this end.
    open var localPort: Int? { self.values.local?.port }
    /// The address of the other end.
    open var remoteAddress: String? { self.values.remote?.address }
    /// The port of the other end.
    open var remotePort: Int? { self.values.remote?.port }
    /// The version of TLS (iOS 13): always 1.3 here.
    open var negotiatedTLSProtocolVersion: tls_protocol_version_t? { self.values.version == nil ? nil : .TLSv13 }
    /// Whether the network was cellular.
    open var isCellular: Bool { false }
    /// Whether the network costs.
    open var isExpensive: Bool { false }
    /// Whether the network is in the mode of low data.
    open var isConstrained: Bool { false }
    /// Whether several ways were used at once.
    open var isMultipath: Bool { false }
}
