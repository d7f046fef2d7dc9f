// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListMetadata

/// The form in which a root is printed.
struct RootDescription: Encodable {
    /// A role: its keys, and how many of them must sign.
    struct Role: Encodable {
        let keyids: [String]
        let threshold: Int
        /// The second demand, where there is one.
        let hybrid: Demand?
    }

    /// So many of some keys.
    struct Demand: Encodable {
        let keyids: [String]
        let threshold: Int
    }

    let name: String
    let version: Int64
    let issuedAt: String
    let expiresAt: String
    let payloadSHA256: String
    /// The algorithms of the keys by their ids.
    let keys: [String: String]
    let roles: [String: Role]

    /// Describes a root.
    init(_ root: Root, payload: [UInt8]) {
        self.name = root.name
        self.version = root.version
        self.issuedAt = root.issuedAt.description
        self.expiresAt = root.expiresAt.description
        self.payloadSHA256 = Envelope.digest(of: payload)
        self.keys = root.keys.mapValues(\.algorithm.rawValue)
        self.roles = [
            "root": Self.shown(root.root), "pins": Self.shown(root.pins),
        ]
    }

    private static func shown(_ role: PinListMetadata.Role) -> Role {
        Role(
            keyids: role.keyIDs, threshold: role.threshold,
            hybrid: role.hybrid.map { Demand(keyids: $0.keyIDs, threshold: $0.threshold) })
    }

    /// The lines for people.
    var lines: [String] {
        var lines = [
            "root \(self.version) of \(self.name)", "issued \(self.issuedAt), expires \(self.expiresAt)",
            "payload SHA-256 \(self.payloadSHA256)",
        ]
        for name in ["root", "pins"] {
            guard let role = self.roles[name] else { continue }
            lines.append("\(name): \(role.threshold) of \(role.keyids.count)")
            lines += self.lines(ofKeys: role.keyids)
            guard let hybrid = role.hybrid else { continue }
            lines.append("\(name), hybrid: \(hybrid.threshold) of \(hybrid.keyids.count)")
            lines += self.lines(ofKeys: hybrid.keyids)
        }
        return lines
    }

    private func lines(ofKeys keyIDs: [String]) -> [String] {
        // The name of an algorithm is any text that the root has; an unsigned one may come from any author.
        keyIDs.map { "    \($0) \(PrintableText.line(self.keys[$0] ?? "", maximumLength: 80))" }
    }

    /// Prints it.
    func write(asJSON json: Bool) throws {
        if json { try JSONOutput.write(self) } else { try StandardOutput.write(lines: self.lines) }
    }
}
