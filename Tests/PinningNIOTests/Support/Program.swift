// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Programs of this machine that tests run.
enum Program {
    /// OpenSSL's command line.
    static let openssl = Self.installed("openssl")
    /// nginx; Debian keeps it where only root looks for programs.
    static let nginx = Self.installed("nginx")

    private static func installed(_ name: String) -> URL? {
        ((ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/sbin"])
            .map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
