// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning

/// `--connect-to HOST:PORT:HOST2:PORT2`, as curl has it: what is for one server is asked of another, under the first
/// one's name. An empty HOST or PORT means any, an empty HOST2 or PORT2 the same. `HOST:HOST2:PORT2` is read too, for
/// any port.
struct ConnectTo: Sendable {
    /// The host that is asked for.
    let host: HostName?
    /// The port that is asked for.
    let port: Int?
    /// The host that the connection goes to.
    let otherHost: HostName?
    /// The port that the connection goes to.
    let otherPort: Int?

    /// Reads it.
    ///
    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        var parts = [""]
        var isInBrackets = false
        for character in text {
            if character == "[" || character == "]" { isInBrackets = character == "[" }
            if character == ":", !isInBrackets { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        if parts.count == 3 { parts.insert("", at: 1) }
        guard parts.count == 4 else { throw ValidationError("it is written HOST:PORT:HOST2:PORT2") }
        self.host = try Self.host(parts[0])
        self.port = try Self.port(parts[1])
        self.otherHost = try Self.host(parts[2])
        self.otherPort = try Self.port(parts[3])
    }

    private static func host(_ text: String) throws -> HostName? {
        guard !text.isEmpty else { return nil }
        return try HostArgument.host(text)
    }

    private static func port(_ text: String) throws -> Int? {
        guard !text.isEmpty else { return nil }
        guard let port = UInt16(text), port > 0 else { throw ValidationError("\(text) is not a port") }
        return Int(port)
    }

    /// Whether what goes to a host and a port goes elsewhere.
    func covers(_ host: HostName, _ port: Int) -> Bool {
        (self.host ?? host) == host && (self.port ?? port) == port
    }
}
