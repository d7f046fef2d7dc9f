// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

/// The target of a request as URLSession reads its URL; WebSockets count as HTTP.
struct SessionTarget: Hashable, Sendable {
    /// Whether the connection is made with TLS.
    let isTLS: Bool
    /// The host, as the URL names it.
    let host: String
    /// The port that the URL names, or the scheme's.
    let port: Int

    /// Reads a URL; `nil` for one that makes no connection, or none that is HTTP's.
    init?(_ url: URL?) {
        guard let url, let scheme = url.scheme?.lowercased(), ["http", "https", "ws", "wss"].contains(scheme) else {
            return nil
        }
        self.isTLS = scheme == "https" || scheme == "wss"
        // Without a host there is no connection, and an invalid name is refused as invalid.
        self.host = url.host ?? ""
        self.port = url.port ?? (self.isTLS ? 443 : 80)
    }

    /// The server that the connection is made to with TLS; `nil` without TLS, and for an invalid name.
    var server: ConnectionLedger.Server? {
        guard self.isTLS, let host = try? HostName(self.host) else { return nil }
        return ConnectionLedger.Server(host: host, port: self.port)
    }
}
#endif
