// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation

/// A server as it is written on a command line: `HOST:PORT`, `[IPv6]:PORT`, or `https://HOST[:PORT]`.
struct ServerAddress: CustomStringConvertible {
    /// The host, normalised.
    let host: HostName

    /// The port.
    let port: Int

    /// Puts an address together.
    init(_ host: HostName, _ port: Int) {
        self.host = host
        self.port = port
    }

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
        // Without brackets it is not clear where an IPv6 address ends and a port begins.
        guard let port, port > 0, host.first == "[" || !host.contains(":"),
            let name = try? HostArgument.name(String(host))
        else { return nil }
        self.host = name
        self.port = port
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    var description: String { Self.text(self.host.description, self.port) }

    /// A host and a port in their written form, with brackets around an IPv6 address.
    static func text(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The defect of a text that was meant as a server; `nil` for one that may be the name of a file.
    static func misuse(_ text: String) -> CommandError? {
        if let scheme = text.range(of: "://") {
            let isHTTPS = text[..<scheme.lowerBound].lowercased() == "https"
            let rest = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
            let host = rest.contains("@") ? nil : rest.split(separator: ":").first.map(String.init)
            let example = host.flatMap { ServerAddress("\($0):443") }.map { "https://\($0.host)" } ?? "https://HOST"
            return CommandError(
                .usage,
                isHTTPS ? "this is not the address of a server" : "only https servers have certificates to ask for",
                hint: "write \(example), or HOST:PORT")
        }
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else { return nil }
        let (host, port) = (text[..<colon], text[text.index(after: colon)...])
        guard !port.isEmpty, port.utf8.allSatisfy({ (48...57).contains($0) }), ServerAddress("\(host):443") != nil
        else { return nil }
        return CommandError(.usage, "\(text): \(port) is not a port", hint: "write \(host):443; a port is 1 to 65535")
    }
}
