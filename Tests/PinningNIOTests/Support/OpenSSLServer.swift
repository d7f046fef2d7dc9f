// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import X509

/// `openssl s_server` on loopback, which answers a GET with a page about the connection.
enum OpenSSLServer {
    /// What it said instead of listening.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a server while something is done with it.
    ///
    /// - Parameters:
    ///   - chain: What it presents; the first one's key is its own.
    ///   - options: More of its options, such as `-tls1_2`.
    static func with<Result>(
        _ chain: [TestCertificate], _ options: [String] = [], _ body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        guard let openssl = Program.openssl else { throw NotStarted(description: "openssl is not installed") }
        return try await withTemporaryFolder { folder in
            func write(_ text: String, _ name: String) throws {
                try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
            }
            try write(chain[0].pem, "leaf.pem")
            try write(chain[0].keyPEM, "leaf.key")
            try write(chain.dropFirst().map { try $0.pem }.joined(), "chain.pem")
            let above = chain.count > 1 ? ["-cert_chain", "chain.pem"] : []
            let arguments = ["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "leaf.pem", "-key", "leaf.key"]
            return try await withRunningProcess(openssl, arguments + above + options, in: folder) { process in
                var lastWords = ""
                while let line = await process.nextLine() {
                    lastWords = line
                    if line.hasPrefix("ACCEPT"), let port = line.split(separator: ":").last.flatMap({ Int($0) }) {
                        return try await body(port)
                    }
                }
                throw NotStarted(description: lastWords)
            }
        }
    }
}
#endif
