// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
public import SecurityShim

/// The default method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// HTTP Basic.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// HTTP Digest.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A form in HTML.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// NTLM.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Kerberos or NTLM.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// The server asks for a certificate of the client.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The client is asked to trust the server.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// A proxy for HTTP.
public let NSURLProtectionSpaceHTTPProxy = "NSURLProtectionSpaceHTTPProxy"
/// A proxy for HTTPS.
public let NSURLProtectionSpaceHTTPSProxy = "NSURLProtectionSpaceHTTPSProxy"
/// The protocol `http`.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol `https`.
public let NSURLProtectionSpaceHTTPS = "https"

/// What a challenge is for.
///
/// `@unchecked Sendable`: because nothing of it changes.
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    /// The host, or the proxy's.
    public let host: String
    /// The port.
    public let port: Int
    /// The protocol; `nil` for a proxy.
    public let `protocol`: String?
    /// What kind of proxy; `nil` when it is none.
    public let proxyType: String?
    /// The realm of HTTP's methods.
    public let realm: String?
    /// What is asked for.
    public let authenticationMethod: String
    /// The chain to be trusted; `nil` but for server trust.
    public let serverTrust: SecTrust?
    /// Who signs the certificates that a server takes from clients.
    public let distinguishedNames: [Data]?

    /// A server's.
    public convenience init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        self.init(
            host: host, port: port, protocol: `protocol`, realm: realm, authenticationMethod: authenticationMethod,
            proxyType: nil, serverTrust: nil)
    }

    /// A proxy's.
    public convenience init(
        proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?
    ) {
        self.init(
            host: host, port: port, protocol: nil, realm: realm, authenticationMethod: authenticationMethod,
            proxyType: type, serverTrust: nil)
    }

    package init(
        host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?, proxyType: String?,
        serverTrust: SecTrust?
    ) {
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.realm = realm
        self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
        self.proxyType = proxyType
        self.serverTrust = serverTrust
        self.distinguishedNames = nil
    }

    /// Whether it is a proxy's.
    open override func isProxy() -> Bool { self.proxyType != nil }

    /// Whether a password is not sent as it is.
    open var receivesCredentialSecurely: Bool { self.protocol == NSURLProtectionSpaceHTTPS }
}
