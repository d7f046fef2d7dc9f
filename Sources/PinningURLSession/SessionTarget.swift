// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation

/// Where URLSession takes a request, as URLSession reads its URL: a WebSocket's are HTTP's.
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
        // Without a host there is no connection, and the name that is none is refused as that.
        self.host = url.host ?? ""
        self.port = url.port ?? (self.isTLS ? 443 : 80)
    }
}
#endif
