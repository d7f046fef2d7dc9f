// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Places where an app makes connections which its pins do not reach.
extension AuditRule {
    static let ofSurfaces = [
        sharedSession, sessionWithoutDelegate, webView, safari, webAuthentication, player, connection, stream,
        oldConnection, urlProtocol, contentsOfURL, asyncImage, alamofire, starscream, imageLibrary, firebase, grpc,
        asyncHTTPClient, nioSSL, networkLibrary,
    ]

    static let sharedSession = AuditRule(
        "surface-urlsession-shared", .warning, "URLSession.shared has no delegate, so nothing can pin its connections.",
        "Use one session of your own with a delegate that pins, such as URLSession.pinned(by:).")
    static let sessionWithoutDelegate = AuditRule(
        "surface-urlsession-without-delegate", .warning,
        "A session without a delegate that looks at the server's certificates: nothing pins its connections.",
        "Give it a delegate that pins, or use URLSession.pinned(by:).")
    static let webView = AuditRule(
        "surface-wkwebview", .warning, "A web view without a navigation delegate: nothing pins its connections.",
        "Set a navigation delegate that pins, such as PinnedNavigationDelegate, and keep it.")
    static let safari = AuditRule(
        "surface-safari", .note, "SFSafariViewController connects outside of the app. It cannot be pinned.",
        "Use it for pages of others. For your own use a WKWebView that is pinned.")
    static let webAuthentication = AuditRule(
        "surface-web-authentication", .note,
        "ASWebAuthenticationSession connects outside of the app. It cannot be pinned.",
        "Pin what the app does with the answer: the exchange of the code for a token.")
    static let player = AuditRule(
        "surface-avplayer", .warning, "AVFoundation loads by itself, past the app's sessions and their pins.",
        "Load through a pinned session with an AVAssetResourceLoaderDelegate, or sign what is played.")
    static let connection = AuditRule(
        "surface-nwconnection", .warning, "An NWConnection with TLS and without a verify block: nothing pins it.",
        "Call pin(by:host:) on its NWProtocolTLS.Options, after any verify block of your own, which it replaces.")
    static let stream = AuditRule(
        "surface-cfstream", .warning, "CFStream makes connections that no delegate for server trust sees.",
        "Use URLSession or NWConnection, which can be pinned.")
    static let oldConnection = AuditRule(
        "surface-nsurlconnection", .warning,
        "NSURLConnection is deprecated since 2015, and each delegate of it has to pin.",
        "Use URLSession.")
    static let urlProtocol = AuditRule(
        "surface-urlprotocol", .note,
        "A URLProtocol subclass answers requests in place of the system, with connections of its own.",
        "See that its connections are pinned, or that it is not in release builds.")
    static let contentsOfURL = AuditRule(
        "surface-contents-of-url", .warning,
        "Data(contentsOf:) and its kin load over URLSession.shared: nothing pins it.",
        "Load through the pinned session.")
    static let asyncImage = AuditRule(
        "surface-async-image", .warning, "AsyncImage loads over URLSession.shared: nothing pins it.",
        "Load the image through the pinned session and show it with Image.")
    static let alamofire = AuditRule(
        "surface-alamofire", .warning, "A session of Alamofire without a ServerTrustManager: nothing pins it.",
        "Give Session a ServerTrustManager, or a delegate that pins.")
    static let starscream = AuditRule(
        "surface-starscream", .warning,
        "A WebSocket of Starscream without a certificate pinner; FoundationSecurity, the library's own, pins nothing.",
        "Give it a CertificatePinning, or use a URLSessionWebSocketTask of the pinned session.")
    static let imageLibrary = AuditRule(
        "surface-image-library", .warning, "An image library loads over sessions of its own.",
        "Give its loader the pinned session or its delegate.")
    static let firebase = AuditRule(
        "surface-firebase", .note,
        "Firebase makes connections of its own, some over gRPC with BoringSSL. They cannot be pinned.",
        "Send nothing through it that has to be protected by pins.")
    static let grpc = AuditRule(
        "surface-grpc", .warning, "A gRPC client whose TLS is not pinned.",
        "Use PinnedTLS of PinningGRPC, or a verification callback of your own.")
    static let asyncHTTPClient = AuditRule(
        "surface-async-http-client", .warning, "An HTTPClient of AsyncHTTPClient whose configuration is not pinned.",
        "Use PinnedHTTPClient of PinningNIO, or HTTPClient.Configuration.pinned(by:for:).")
    static let nioSSL = AuditRule(
        "surface-nio-ssl", .warning, "A NIOSSLClientHandler without a verification callback: nothing pins it.",
        "Use PinnedTLS of PinningNIO, or a customVerificationCallback of your own.")
    static let networkLibrary = AuditRule(
        "surface-network-library", .warning, "A library makes connections over sessions of its own.",
        "Give it the pinned session, or the delegate of it.")
}
