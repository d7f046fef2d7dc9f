// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A PostgreSQL server of the tests: in a folder of its own, reached by a socket in it, ended with the test.
struct TestPostgreSQL: Sendable {
    /// The error of a part that could not be made.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder of the server's programs, where it is installed: on the `PATH`, or where Debian puts them.
    static let programs: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let base = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [])
            .sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        return (path + versions.map { "\(base)/\($0)/bin" }).first { folder in
            ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    /// The server that runs beside the suite.
    @TaskLocal static var current: TestPostgreSQL?

    /// The folder of the socket, and of all else.
    let folder: URL

    /// Makes an empty server, which does not run yet; removed afterwards in any case.
    static func withServer<Result>(_ body: (TestPostgreSQL) async throws -> Result) async throws -> Result {
        // A short path: the name of a socket has a hundred characters at most.
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tumbler-pg-\(UInt32.random(in: .min ... .max))", isDirectory: true)
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(at: folder) }
        // PostgreSQL does not run as root.
        if geteuid() == 0 {
            try manager.setAttributes(
                [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], ofItemAtPath: folder.path)
        }
        let server = TestPostgreSQL(folder: folder)
        try await server.make()
        return try await body(server)
    }

    private func make() async throws {
        let made = try await FinishedProcess.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"exec "$@""#, "sh"]
                + (try Self.command(
                    "initdb",
                    ["-D", "data", "-U", "owner", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync"])),
            in: self.folder)
        guard made.status == 0 else {
            throw Failure(description: "initdb: \(String(decoding: made.errors, as: UTF8.self))")
        }
        let rules = "local all guarded scram-sha-256\nlocal all all trust\n"
        let file = self.folder.appendingPathComponent("data/pg_hba.conf")
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(rules.utf8))
        try handle.close()
    }

    private static func command(_ program: String, _ arguments: [String]) throws -> [String] {
        let programs = try #require(Self.programs)
        let unprivileged = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        return (geteuid() == 0 ? unprivileged : []) + ["\(programs)/\(program)"] + arguments
    }

    /// Runs the server beside `body`, which begins when connections are taken. It is stopped as an administrator stops
    /// it who does not wait for clients; by a test that crashes, too: its standard input ends then.
    func running<Result>(_ body: () async throws -> Result) async throws -> Result {
        let watched = #"exec 3<&0; (cat <&3 >/dev/null; kill -INT $$) & exec 3<&-; exec "$@" 2>&1 </dev/null"#
        let server = try Self.command(
            "postgres",
            [
                "-D", "data", "-k", self.folder.path, "-c", "listen_addresses=", "-c", "shared_buffers=16MB",
                "-c", "max_connections=60", "-c", "logging_collector=off", "-c", "log_destination=stderr",
            ])
        return try await withRunningProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", watched, "sh"] + server, in: self.folder
        ) { process in
            var log: [String] = []
            while let line = await process.nextLine() {
                log.append(line)
                if line.contains("ready to accept connections") { break }
            }
            guard log.last?.contains("ready to accept connections") == true else {
                throw Failure(description: "the server did not start: \(log.joined(separator: "\n"))")
            }
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            process.endInput()
            while await process.nextLine() != nil {}
            return try result.get()
        }
    }
}
