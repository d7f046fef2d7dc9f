// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import URLSessionShim

/// A view with a page. On Apple's platforms a view of UIKit or AppKit; here it shows nothing.
@MainActor
open class WKWebView: NSObject {
    /// How it works.
    public let configuration: WKWebViewConfiguration
    /// Who decides what it loads, and answers challenges.
    open weak var navigationDelegate: (any WKNavigationDelegate)?
    /// The page's address.
    public package(set) var url: URL?

    /// A view.
    public init(frame: CGRect, configuration: WKWebViewConfiguration) { self.configuration = configuration }

    /// A view with a configuration that asks for nothing.
    public override convenience init() { self.init(frame: .zero, configuration: WKWebViewConfiguration()) }

    /// Begins to load. Here nothing comes: `SimulatedNavigation` does it.
    @discardableResult
    open func load(_ request: URLRequest) -> WKNavigation? {
        self.url = request.url
        return WKNavigation()
    }

    /// Ends loading.
    open func stopLoading() {}
}

/// How web views work.
@MainActor
open class WKWebViewConfiguration: NSObject {
    /// A configuration that asks for nothing.
    public override init() {}
}

/// The loading of one page.
@MainActor
open class WKNavigation: NSObject {
    package override init() {}
}

/// A link that was followed, or another reason for a navigation.
@MainActor
open class WKNavigationAction: NSObject {
    /// The request.
    public let request: URLRequest

    package init(request: URLRequest) { self.request = request }
}

/// A response that a page may be made of.
@MainActor
open class WKNavigationResponse: NSObject {
    /// The response.
    public let response: URLResponse
    /// Whether it is the main frame's.
    public let isForMainFrame: Bool

    package init(response: URLResponse, isForMainFrame: Bool) {
        self.response = response
        self.isForMainFrame = isForMainFrame
    }
}

/// What a page may do (iOS 13).
@MainActor
open class WKWebpagePreferences: NSObject {
    /// Preferences that ask for nothing.
    public override init() {}
}

/// A download that a navigation became (iOS 14.5).
@MainActor
open class WKDownload: NSObject {
    /// The request.
    public let originalRequest: URLRequest?

    package init(originalRequest: URLRequest?) { self.originalRequest = originalRequest }
}

/// Whether a navigation goes on.
public enum WKNavigationActionPolicy: Int, Sendable {
    /// It does not.
    case cancel = 0
    /// It does.
    case allow = 1
    /// It becomes a download (iOS 14.5).
    case download = 2
}

/// Whether a response becomes a page.
public enum WKNavigationResponsePolicy: Int, Sendable {
    /// It does not.
    case cancel = 0
    /// It does.
    case allow = 1
    /// It becomes a download (iOS 14.5).
    case download = 2
}
