// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Deciders
import Foundation
import RuntimeIntegrity

/// Calls what attackers hook: the functions of `Deciders`; and `open` and `connect` of libc, as any program does.
enum Deciding {
    /// The key that is pinned.
    static let pinnedKey = Array("the pinned key".utf8)
    /// A server's key that is not.
    static let foreignKey = Array("another key".utf8)

    /// An unused one: the canary's.
    static let canaryKey = Array("one more key".utf8)

    /// What a TLS library asks for each connection, and whether the list of pins can be trusted.
    static func isTrusted(key: [UInt8]) -> Bool {
        let list = open("/etc/hostname", O_RDONLY)
        if list >= 0 { close(list) }
        return key.withUnsafeBufferPointer { verification_callback($0.baseAddress, $0.count) } == 1
    }

    /// Whether a connection to a port of this machine is made.
    static func connects(to port: UInt16) -> Bool {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Known answers of the four functions.
    static let canary = Canary([
        CanaryCheck(
            "path",
            [
                .bad { Deciding.isTrusted(key: Deciding.canaryKey) },
                .good { Deciding.isTrusted(key: Deciding.pinnedKey) },
            ]),
        CanaryCheck(
            "verdict",
            [
                .bad { Deciding.canaryKey.withUnsafeBufferPointer { is_pinned($0.baseAddress, $0.count) } == 1 },
                .good { Deciding.pinnedKey.withUnsafeBufferPointer { is_pinned($0.baseAddress, $0.count) } == 1 },
            ]),
        CanaryCheck(
            "list-signature", [.bad { has_valid_signature(8) == 1 }, .good { has_valid_signature(7) == 1 }]),
        CanaryCheck(
            "hash",
            [
                .bad { Deciding.digest(Deciding.canaryKey) == Deciding.digest(Array("a third key".utf8)) },
                .good { Deciding.digest(Deciding.pinnedKey) == Deciding.digest(Deciding.pinnedKey) },
            ]),
    ])

    private static func digest(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBufferPointer { digest_of($0.baseAddress, $0.count) }
    }
}
