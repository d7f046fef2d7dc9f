// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
public import CertificatePinning
import Foundation
import NIOCore
import NIOHTTP1
@_spi(Adapters) import PinListClient

extension HTTPResponseStatus {
    /// Whether this asks for another URL, if the response names one.
    var isRedirect: Bool {
        switch self.code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}

extension HTTPClientRequest {
    /// The request that a redirect asks for, or `nil` when the response is for the caller: no redirect, or one that
    /// would send a body again, which may have been consumed already.
    func followingRedirect(_ response: HTTPClientResponse) -> HTTPClientRequest? {
        guard response.status.isRedirect, let location = response.headers.first(name: "Location"),
            let base = URL(string: self.url),
            let url = URL(string: location, relativeTo: base)?.absoluteURL,
            let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http"
        else { return nil }
        var next = self
        next.url = url.absoluteString
        // As browsers do (Fetch, section 4.4): a form that was posted is not posted again elsewhere.
        let becomesGet =
            response.status == .seeOther
            ? self.method != .HEAD
            : self.method == .POST && (response.status == .movedPermanently || response.status == .found)
        if becomesGet {
            next.method = .GET
            next.body = nil
            for name in ["Content-Length", "Content-Type", "Transfer-Encoding"] { next.headers.remove(name: name) }
        }
        guard next.body == nil else { return nil }
        if RequestTarget(self.url) != RequestTarget(next.url) {
            // Credentials for one host are not sent to another.
            for name in ["Authorization", "Cookie", "Host", "Origin", "Proxy-Authorization"] {
                next.headers.remove(name: name)
            }
        }
        return next
    }
}

/// A redirect that was not followed: a public host redirected to this machine, or into a private network.
/// ``PinnedHTTPClient/Options/allowsLocalRedirects`` allows it.
public struct LocalRedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host that redirected.
    public let host: String
    /// The host that it redirected to, without a port.
    public let target: String
    /// The address that the target was connected at; `nil` where the written host is local already.
    private let address: String?

    /// Returns what is wrong with a redirect; `nil` when it leads to a public host, or began in the same network.
    @_spi(Tools) public init?(from host: HostName, to target: HostName) {
        guard !host.isLocal, target.isLocal else { return nil }
        self.host = host.description
        self.target = target.description
        self.address = nil
    }

    /// A redirect to a name that leads to a local or private address.
    @_spi(Tools) public init(from host: HostName, to target: HostName, at address: String) {
        self.host = host.description
        self.target = target.description
        self.address = address
    }

    /// The description, in one sentence.
    public var description: String {
        guard let address else {
            return "\(self.host) redirects to \(self.target), which is a local or private address"
        }
        return "\(self.host) redirects to \(self.target), which is at \(address), a local or private address"
    }
}

/// A connection that takes no request, because its other end is this machine or in a private network, and a host of the
/// world redirected to it.
struct LocalPeerError: Error {
    /// The address of the other end, if it is known.
    let address: String?

    /// Returns what is wrong with a connection; `nil` when it leads to a public address. One whose address is not known
    /// may lead anywhere.
    init?(_ channel: any Channel) { self.init(channel.remoteAddress) }

    /// The same of the address of a connection's other end.
    init?(_ address: SocketAddress?) {
        let address = address?.ipAddress
        if let host = address.flatMap({ try? HostName($0) }), !host.isLocal { return nil }
        self.address = address
    }
}
#endif
