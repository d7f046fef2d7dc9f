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

/// A cache: here it keeps nothing. `Sendable`: because nothing of it changes.
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

    /// A cache of its own (iOS 13, macOS 10.15). Here it keeps nothing.
    public init(memoryCapacity: Int, diskCapacity: Int, directory: URL?) {}
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
