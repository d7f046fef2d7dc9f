// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import NIOSSL
import Testing

/// mitmproxy, which imitates the server for its clients, and counts what they tell it.
struct ManInTheMiddle {
    /// What the clients told it.
    struct Counts: Decodable, Equatable {
        /// Connections that were accepted.
        var connections: Int
        /// Handshakes that were completed.
        var handshakes: Int
        /// Requests whose head was read, but those for a tunnel.
        var requests: Int
        /// Decrypted bytes of requests.
        var requestBytes: Int
    }

    /// Where it stands.
    enum Place {
        /// The client takes it for the server.
        case server(port: Int)
        /// The client asks it for a tunnel.
        case proxy
        /// The same, but it passes on what it cannot read, as an honest proxy does.
        case honestProxy
        /// The router hands it the client's connections.
        case router(NetworkNamespace)

        fileprivate var mode: String {
            switch self {
            case .server(let port): "reverse:https://127.0.0.1:\(port)"
            case .proxy, .honestProxy: "regular"
            case .router: "transparent"
            }
        }
    }

    /// `mitmdump`, where it is installed.
    static let program = InstalledProgram("mitmdump")

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("count-requests.py")

    /// Its port, chosen by the system.
    let port: Int
    /// The CA that it made for itself, in PEM.
    let authorityFile: URL
    private var process: RunningProcess

    /// Runs it while something is done with it.
    ///
    /// - Parameters:
    ///   - place: Where it stands.
    ///   - identity: The key and the chain that it presents, in PEM; without one it makes certificates by its own CA.
    static func with<Result>(
        at place: Place, presenting identity: String?, _ body: (inout ManInTheMiddle) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var program = try #require(Self.program)
        var host = "127.0.0.1"
        if case .router = place { host = "0.0.0.0" }
        var arguments = [
            "--quiet", "--scripts", self.script.path, "--mode", place.mode, "--listen-host", host, "--listen-port", "0",
            // It is an attacker: who the server is need not concern it.
            "--set", "confdir=\(folder.path)", "--ssl-insecure",
        ]
        if case .honestProxy = place { arguments += ["--ignore-hosts", ".*"] }
        if let identity {
            let file = folder.appendingPathComponent("identity.pem")
            try identity.write(to: file, atomically: false, encoding: .utf8)
            arguments += ["--certs", "*=\(file.path)"]
        }
        if case .router(let network) = place { (program, arguments) = try network.command(program, arguments) }
        return try await withRunningProcess(program.executable, arguments, in: folder) { process in
            let port = try #require(await process.nextLine().flatMap { Int($0) }, "mitmproxy did not start")
            var it = ManInTheMiddle(
                port: port, authorityFile: folder.appendingPathComponent("mitmproxy-ca-cert.pem"), process: process)
            return try await body(&it)
        }
    }

    /// What it was told so far. Waits until its clients are gone, for only then is all of it known.
    mutating func counts() async throws -> Counts {
        try self.process.say("counts")
        let line = try #require(await self.process.nextLine(), "mitmproxy has ended")
        return try JSONDecoder().decode(Counts.self, from: Data(line.utf8))
    }
}
#endif
