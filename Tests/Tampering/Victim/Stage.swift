// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What clients and attackers are told of the servers: `stage.json`.
struct Stage: Codable, Sendable {
    /// The host that all of it is about.
    let host: String
    /// The port of the server with the pinned key.
    let pinnedPort: Int
    /// The port of the attacker's server: the same name, the same authority, another key.
    let foreignPort: Int
    /// The SHA-256 of the pinned key, in hexadecimal: it stands in the public list.
    let pin: String
    /// The attacker's certificate, in hexadecimal.
    let foreignLeaf: String
    /// The version of the forged list.
    let forgedVersion: Int64
    /// Where in a `PinningDecision` the verdict stands, and the byte that allows: what an attacker finds out once.
    let verdictOffset: Int
    /// See ``verdictOffset``.
    let allowingByte: UInt8

    /// Reads it.
    init(in folder: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: Self.path("stage.json", folder)))
        self = try JSONDecoder().decode(Stage.self, from: bytes)
    }

    /// States it.
    init(
        host: String, pinnedPort: Int, foreignPort: Int, pin: String, foreignLeaf: String, forgedVersion: Int64,
        verdictOffset: Int, allowingByte: UInt8
    ) {
        self.host = host
        self.pinnedPort = pinnedPort
        self.foreignPort = foreignPort
        self.pin = pin
        self.foreignLeaf = foreignLeaf
        self.forgedVersion = forgedVersion
        self.verdictOffset = verdictOffset
        self.allowingByte = allowingByte
    }

    /// A file of the folder.
    static func path(_ file: String, _ folder: String) -> String { "\(folder)/\(file)" }
}
