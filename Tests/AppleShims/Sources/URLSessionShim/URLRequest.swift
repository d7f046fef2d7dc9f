// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The Objective-C class behind `URLRequest`: here only the home of its enumerations.
public final class NSURLRequest {
    /// When a cache may answer.
    public enum CachePolicy: UInt, Sendable {
        /// As the protocol says.
        case useProtocolCachePolicy = 0
        /// From the network, without the local cache.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache when it is there, however old.
        case returnCacheDataElseLoad = 2
        /// From the cache, or not at all.
        case returnCacheDataDontLoad = 3
        /// From the network, without any cache on the way.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache when the server says that it still holds.
        case reloadRevalidatingCacheData = 5
    }

    /// What a request is for.
    public enum NetworkServiceType: UInt, Sendable {
        /// Nothing special.
        case `default` = 0
        /// Lowest priority: nothing waits for it.
        case background = 3
    }

    private init() {}
}

/// A request of an app.
///
/// `@unchecked Sendable`: because a stream as the body is the one thing in it that is not, and only one task reads it.
public struct URLRequest: Hashable, @unchecked Sendable {
    /// When a cache may answer.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// What it is for.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType

    /// Where it goes.
    public var url: URL?
    /// When a cache may answer.
    public var cachePolicy: CachePolicy
    /// How many seconds may pass without anything coming.
    public var timeoutInterval: TimeInterval
    /// The page that it is part of.
    public var mainDocumentURL: URL?
    /// What it is for.
    public var networkServiceType: NetworkServiceType = .default
    /// Whether the cellular network may be used.
    public var allowsCellularAccess = true
    /// The body as bytes.
    public var httpBody: Data?
    /// The body as a stream.
    public var httpBodyStream: InputStream?
    /// Whether cookies are sent and kept.
    public var httpShouldHandleCookies = true
    /// Whether the server is expected to speak HTTP/3.
    public var assumesHTTP3Capable = false
    private var method = "GET"
    private var fields: [Field: String] = [:]

    /// A name of a header field: the case of its letters is kept, and says nothing.
    private struct Field: Hashable {
        let name: String
        static func == (left: Field, right: Field) -> Bool { left.name.lowercased() == right.name.lowercased() }
        func hash(into hasher: inout Hasher) { hasher.combine(self.name.lowercased()) }
    }

    /// A GET request.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        self.url = url
        self.cachePolicy = cachePolicy
        self.timeoutInterval = timeoutInterval
    }

    /// The method; `nil` is GET.
    public var httpMethod: String? {
        get { self.method }
        set { self.method = newValue ?? "GET" }
    }

    /// All header fields.
    public var allHTTPHeaderFields: [String: String]? {
        get { Dictionary(self.fields.map { ($0.name, $1) }) { first, _ in first } }
        set {
            self.fields = [:]
            for (name, value) in newValue ?? [:] { self.fields[Field(name: name)] = value }
        }
    }

    /// A header field, by its name in any case.
    public func value(forHTTPHeaderField field: String) -> String? { self.fields[Field(name: field)] }

    /// Sets a header field; `nil` takes it away.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        self.fields[Field(name: field)] = nil
        if let value { self.fields[Field(name: field)] = value }
    }

    /// Adds a value to a header field, behind a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let field = Field(name: field)
        self.fields[field] = self.fields[field].map { "\($0),\(value)" } ?? value
    }
}
