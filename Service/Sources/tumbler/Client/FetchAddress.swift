// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation

/// The address of a page: `https` or `http`, a host that can be one, and no credentials.
struct FetchAddress: Sendable {
    /// The host, normalised.
    let host: HostName
    /// The port.
    let port: Int
    /// Whether it is asked over TLS.
    let isTLS: Bool

    private var parts: URLComponents

    /// Reads an address, or gives `nil` when the text is none.
    init?(_ text: String) {
        // Credentials in an address end up in logs, and hide the host from people.
        guard var parts = URLComponents(string: text), parts.user == nil, parts.password == nil,
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let name = parts.encodedHost, let host = try? HostName(name), (1...65_535).contains(parts.port ?? 1)
        else { return nil }
        if !host.isAddress { parts.encodedHost = host.description }
        parts.fragment = nil
        self.host = host
        self.isTLS = scheme == "https"
        self.port = parts.port ?? (scheme == "https" ? 443 : 80)
        self.parts = parts
    }

    /// The target of a redirect; `nil` when that is no address.
    func redirected(to location: String) -> FetchAddress? {
        guard let base = self.parts.url, let url = URL(string: location, relativeTo: base) else { return nil }
        return FetchAddress(url.absoluteString)
    }

    /// The URL, with another port where the connection goes there.
    func url(port: Int? = nil) -> String {
        var parts = self.parts
        if let port { parts.port = port }
        return parts.string ?? ""
    }

    /// The header `Host`: what is asked for, wherever the connection goes.
    var hostHeader: String {
        let name = self.parts.encodedHost ?? ""
        return self.parts.port.map { "\(name):\($0)" } ?? name
    }

    /// One text for all spellings of one address: the scheme and the host are in lower case, and the port is there.
    var identity: String {
        let path = self.parts.percentEncodedPath
        let query = self.parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        return "\(self.isTLS ? "https" : "http")://\(self.server)\(path.isEmpty ? "/" : path)\(query)"
    }

    /// The host and the port.
    var server: String { "\(self.host):\(self.port)" }

    /// The host as it stands in the URL, without brackets.
    var writtenHost: String { (self.parts.encodedHost ?? "").trimmingCharacters(in: ["[", "]"]) }
}
