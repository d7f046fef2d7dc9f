// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

/// A server as it is written on a command line: `HOST:PORT`, `[IPv6]:PORT`, or `https://HOST[:PORT]`.
struct ServerAddress: CustomStringConvertible {
    /// The host, normalised.
    let host: HostName

    /// The port.
    let port: Int

    /// Reads an address, or gives `nil` when the text is none.
    init?(_ text: String) {
        var rest = text[...]
        var defaultPort: Int?
        if rest.lowercased().hasPrefix("https://") {
            rest = rest.dropFirst("https://".count)
            rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            defaultPort = 443
        }
        var host = rest
        var port = defaultPort
        // The last colon ends the host, unless it stands within the brackets of an IPv6 address.
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            host = rest[..<colon]
            port = UInt16(rest[rest.index(after: colon)...]).map { Int($0) }
        }
        // Without brackets it is ambiguous where an IPv6 address ends and a port begins.
        guard let port, port > 0, host.first == "[" || !host.contains(":"), let name = try? HostName(String(host))
        else { return nil }
        self.host = name
        self.port = port
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    var description: String {
        self.host.description.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}
