// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A response and its data, for a cache. `Sendable`: because nothing of it changes.
open class CachedURLResponse: NSObject, @unchecked Sendable {
    /// The response.
    public let response: URLResponse
    /// Its data.
    public let data: Data
    /// Where it may be kept.
    public let storagePolicy: URLCache.StoragePolicy

    /// A response that may be kept anywhere.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// A response with what else belongs to it, which is not kept here.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]?, storagePolicy: URLCache.StoragePolicy
    ) {
        self.response = response
        self.data = data
        self.storagePolicy = storagePolicy
    }
}

/// A cache in memory: of responses to GET that say how long they may be kept, without an end.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
open class URLCache: NSObject, @unchecked Sendable {
    /// Where a response may be kept.
    public enum StoragePolicy: UInt, Sendable {
        /// Anywhere.
        case allowed = 0
        /// Not on the disk.
        case allowedInMemoryOnly = 1
        /// Nowhere.
        case notAllowed = 2
    }

    /// The cache of the process.
    public static let shared = URLCache()
    /// A cache.
    public override init() {}

    /// A cache of its own (iOS 13, macOS 10.15). Here it has room for all, and is in memory alone.
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL?) {}

    private let lock = NSLock()
    private var responses: [URL: CachedURLResponse] = [:]

    /// Forgets all responses.
    open func removeAllCachedResponses() { self.lock.withLock { self.responses = [:] } }

    /// The response that is kept for a request, where its policy lets the cache answer.
    func response(for request: URLRequest) -> CachedURLResponse? {
        guard request.httpMethod == "GET", request.cachePolicy == .useProtocolCachePolicy, let url = request.url else {
            return nil
        }
        return self.lock.withLock { self.responses[url] }
    }

    /// Keeps a response that says how long it may be kept.
    func keep(_ response: CachedURLResponse, for request: URLRequest?) {
        guard let request, request.httpMethod == "GET", let url = request.url, response.storagePolicy != .notAllowed,
            let http = response.response as? HTTPURLResponse,
            http.value(forHTTPHeaderField: "Cache-Control")?.contains("max-age") ?? false
        else { return }
        self.lock.withLock { self.responses[url] = response }
    }
}

/// A store of cookies: here it keeps nothing. `Sendable`: because nothing of it changes.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    /// The store of the process.
    public static let shared = HTTPCookieStorage()
}

/// A store of credentials: here it keeps nothing. `Sendable`: because nothing of it changes.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
    /// The store of the process.
    public static let shared = URLCredentialStorage()
}
