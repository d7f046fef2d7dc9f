// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecurityShim

/// How a session works. `Sendable` on Apple's platforms.
///
/// `@unchecked Sendable`: because a session takes a copy of it, and no other code changes that.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// A new one with cache, cookies and credentials of the process.
    open class var `default`: URLSessionConfiguration { URLSessionConfiguration(identifier: nil) }

    /// A new one that keeps nothing on the disk.
    open class var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: nil)
        configuration.urlCache = URLCache()
        return configuration
    }

    /// One for transfers that another process does: here, this one.
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration(identifier: identifier)
        configuration.urlCache = nil
        return configuration
    }

    /// The name of a background session.
    public let identifier: String?
    /// When the cache may answer.
    open var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    /// How many seconds may pass without anything coming. Not measured here.
    open var timeoutIntervalForRequest: TimeInterval = 60
    /// How many seconds the whole may take. Not measured here.
    open var timeoutIntervalForResource: TimeInterval = 7 * 86_400
    /// What the requests are for.
    open var networkServiceType: NSURLRequest.NetworkServiceType = .default
    /// Whether the cellular network may be used.
    open var allowsCellularAccess = true
    /// Whether networks that cost may be used.
    open var allowsExpensiveNetworkAccess = true
    /// Whether networks in the mode of low data may be used.
    open var allowsConstrainedNetworkAccess = true
    /// Whether a task waits when there is no network.
    open var waitsForConnectivity = false
    /// Whether the system chooses when.
    open var isDiscretionary = false
    /// The container that a background session puts files into.
    open var sharedContainerIdentifier: String?
    /// Whether the app is started for events of a background session.
    open var sessionSendsLaunchEvents = true
    /// The proxy. Not used here.
    open var connectionProxyDictionary: [AnyHashable: Any]?
    /// Whether cookies are sent.
    open var httpShouldSetCookies = true
    /// Header fields of every request.
    open var httpAdditionalHeaders: [AnyHashable: Any]?
    /// How many connections there are to a host. Not counted here.
    open var httpMaximumConnectionsPerHost = 6
    /// Where cookies are kept.
    open var httpCookieStorage: HTTPCookieStorage? = .shared
    /// Where credentials are kept.
    open var urlCredentialStorage: URLCredentialStorage? = .shared
    /// Where responses are kept.
    open var urlCache: URLCache? = .shared
    /// The oldest version of TLS (iOS 13). Not used here.
    open var tlsMinimumSupportedProtocolVersion = tls_protocol_version_t.TLSv10
    /// The newest version of TLS (iOS 13). Not used here.
    open var tlsMaximumSupportedProtocolVersion = tls_protocol_version_t.TLSv13
    /// Classes of the app that answer requests. Not used here.
    open var protocolClasses: [AnyClass]?
    /// What is not Apple's: the network of the session's tasks; `nil` is `SimulatedNetwork.shared`.
    public var simulatedNetwork: SimulatedNetwork?

    init(identifier: String?) { self.identifier = identifier }

    /// A copy.
    public func copy(with zone: NSZone? = nil) -> Any { self.duplicate() }

    func duplicate() -> URLSessionConfiguration {
        let copy = URLSessionConfiguration(identifier: self.identifier)
        copy.requestCachePolicy = self.requestCachePolicy
        copy.timeoutIntervalForRequest = self.timeoutIntervalForRequest
        copy.timeoutIntervalForResource = self.timeoutIntervalForResource
        copy.networkServiceType = self.networkServiceType
        copy.allowsCellularAccess = self.allowsCellularAccess
        copy.allowsExpensiveNetworkAccess = self.allowsExpensiveNetworkAccess
        copy.allowsConstrainedNetworkAccess = self.allowsConstrainedNetworkAccess
        copy.waitsForConnectivity = self.waitsForConnectivity
        copy.isDiscretionary = self.isDiscretionary
        copy.sharedContainerIdentifier = self.sharedContainerIdentifier
        copy.sessionSendsLaunchEvents = self.sessionSendsLaunchEvents
        copy.connectionProxyDictionary = self.connectionProxyDictionary
        copy.httpShouldSetCookies = self.httpShouldSetCookies
        copy.httpAdditionalHeaders = self.httpAdditionalHeaders
        copy.httpMaximumConnectionsPerHost = self.httpMaximumConnectionsPerHost
        copy.httpCookieStorage = self.httpCookieStorage
        copy.urlCredentialStorage = self.urlCredentialStorage
        copy.urlCache = self.urlCache
        copy.tlsMinimumSupportedProtocolVersion = self.tlsMinimumSupportedProtocolVersion
        copy.tlsMaximumSupportedProtocolVersion = self.tlsMaximumSupportedProtocolVersion
        copy.protocolClasses = self.protocolClasses
        copy.simulatedNetwork = self.simulatedNetwork
        return copy
    }
}
