// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An address to listen on: `127.0.0.1:8480`, `[::1]:8480`, `0.0.0.0:80` or `localhost:0`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address or name, an IPv6 address without brackets.
    package let host: String
    /// The port; 0 for one that the system chooses.
    package let port: Int

    /// The default.
    package static let loopback = ListenAddress(host: "127.0.0.1", port: 8_480)

    private init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads an address.
    ///
    /// - Returns: `nil` for what is none.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        guard let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port) else { return nil }
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else {
            guard !host.contains(":") else { return nil }
        }
        let allowed = host.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard !host.isEmpty, allowed else { return nil }
        self.init(host: String(host), port: port)
    }

    /// Whether only this machine reaches it.
    package var isLoopback: Bool { LoopbackName.isLoopback(self.host) }

    /// The address in its written form.
    package var description: String { self.text(port: self.port) }

    /// The address in its written form, with another port.
    func text(port: Int) -> String { self.host.contains(":") ? "[\(self.host)]:\(port)" : "\(self.host):\(port)" }
}

/// Names that mean this machine.
enum LoopbackName {
    /// Whether a host, without port and brackets, is the loopback interface.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a request names the loopback interface in `Host`: a page of a stranger that has its name resolve to
    /// 127.0.0.1 does not (DNS rebinding).
    static func isLoopback(authority: String) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            return self.isLoopback(String(authority[authority.index(after: authority.startIndex)..<end]))
        }
        return self.isLoopback(String(authority.prefix { $0 != ":" }))
    }
}
