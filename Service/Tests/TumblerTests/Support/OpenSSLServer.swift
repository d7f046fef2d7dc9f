// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs `body` with the port of an `openssl s_server`, which is ended afterwards in any case.
///
/// - Parameters:
///   - options: What it serves, as options of `s_server`.
///   - address: Where it listens.
func withOpenSSLServer<Result>(
    _ openssl: OpenSSL, _ options: [String], at address: String = "127.0.0.1", in folder: URL,
    _ body: (Int) async throws -> Result
) async throws -> Result {
    // With -www it does not read its standard input, whose end would be its own.
    let arguments = ["s_server", "-accept", "\(address):0", "-www"] + options
    return try await withRunningProcess(openssl.executable, arguments, in: folder) { server in
        while let line = await server.nextLine() {
            guard line.hasPrefix("ACCEPT "), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                continue
            }
            return try await body(port)
        }
        throw OpenSSL.Failure(description: "openssl \(arguments.joined(separator: " ")) does not accept connections")
    }
}

extension TestChain {
    /// The options of a server that presents this chain.
    var serverOptions: [String] { ["-cert", self.presented[0], "-key", self.key, "-cert_chain", self.issuers] }
}
