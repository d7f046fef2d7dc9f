// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import X509

/// nginx with a configuration of the test's own, on loopback: TLS 1.2 and 1.3, HTTP/1.1 and HTTP/2, session tickets on.
///
/// It answers anything with the words of ``Answer``.
enum Nginx {
    /// A name, and what is presented for it: several chains where it has keys of several kinds.
    struct Site {
        let host: String
        let chains: [[TestCertificate]]

        init(_ host: String, _ chains: [TestCertificate]...) {
            self.host = host
            self.chains = chains
        }
    }

    /// What nginx says of the connection that it answers on.
    struct Answer: Equatable {
        let tls: String
        let http: String
        let isResumed: Bool

        init(_ text: String) throws {
            let words = text.split(separator: " ").map(String.init)
            guard words.count == 3 else { throw NotStarted(description: "nginx answered \(text)") }
            self.tls = words[0]
            self.http = words[1]
            self.isResumed = words[2] == "r"
        }
    }

    /// What nginx said instead of listening.
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs nginx while something is done with it.
    static func with<Result>(_ sites: [Site], _ body: (_ port: Int) async throws -> Result) async throws -> Result {
        guard let nginx = Program.nginx else { throw NotStarted(description: "nginx is not installed") }
        return try await withTemporaryFolder { folder in
            var lastWords = ""
            for _ in 1...20 {
                let port = try await FreePort.find()
                try Self.write(sites, port, to: folder)
                // Its words go to its standard error alone.
                let command = #"exec "$0" -p . -e stderr -c nginx.conf 2>&1"#
                let result: Result? = try await withRunningProcess(
                    URL(fileURLWithPath: "/bin/sh"), ["-c", command, nginx.path], in: folder
                ) { process in
                    // nginx greets once it listens, and warns or gives up before.
                    while let line = await process.nextLine() {
                        lastWords = line
                        if line.contains("[emerg]") { break }
                        if line.contains("[notice]"), line.contains("nginx/") { return try await body(port) }
                    }
                    return nil
                }
                if let result { return result }
            }
            throw NotStarted(description: lastWords)
        }
    }

    private static func write(_ sites: [Site], _ port: Int, to folder: URL) throws {
        var lines = [
            "daemon off;", "master_process off;", "pid nginx.pid;", "error_log stderr notice;",
            "events { worker_connections 512; }", "http {", "access_log off;", "server_names_hash_bucket_size 128;",
            "ssl_protocols TLSv1.2 TLSv1.3;", "ssl_session_cache shared:tests:1m;", "ssl_session_tickets on;",
        ]
        for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] { lines.append("\(name)_temp_path \(name);") }
        for (number, site) in sites.enumerated() {
            lines += ["server {", "listen 127.0.0.1:\(port) ssl http2;", "server_name \(site.host);"]
            for (index, chain) in site.chains.enumerated() {
                let name = "\(number)-\(index)"
                try chain.map { try $0.pem }.joined()
                    .write(to: folder.appendingPathComponent("\(name).pem"), atomically: false, encoding: .utf8)
                try chain[0].keyPEM
                    .write(to: folder.appendingPathComponent("\(name).key"), atomically: false, encoding: .utf8)
                lines += ["ssl_certificate \(name).pem;", "ssl_certificate_key \(name).key;"]
            }
            lines += [#"return 200 "$ssl_protocol $server_protocol $ssl_session_reused";"#, "}"]
        }
        lines.append("}")
        try lines.joined(separator: "\n")
            .write(to: folder.appendingPathComponent("nginx.conf"), atomically: false, encoding: .utf8)
    }
}
#endif
