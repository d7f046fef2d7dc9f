// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// Signed lists in a folder, as a static host serves them: python's own server is the other side.
struct ServedLists {
    /// The first `python3` on PATH, or `nil`.
    static let python: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0), isDirectory: true).appendingPathComponent("python3") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// The time at which the first root and list are issued.
    static let start = Timestamp(secondsSince1970: 1_795_219_200)  // 2026-11-21T00:00:00Z

    let folder: URL
    var repository: RepositorySimulator

    /// Publishes root 1 and list 1 below `folder`, which also gets `root.json` and `bundled.json` as an app ships them.
    ///
    /// - Parameters:
    ///   - time: When they are issued.
    ///   - domains: The entries of the list; one that nothing matches by default.
    init(in folder: URL, at time: Timestamp = Self.start, domains: [PinnedDomain]? = nil) throws {
        self.folder = folder
        self.repository = try RepositorySimulator(
            at: time, domains: try domains?.map { PinList.Domain($0) } ?? [try Self.entry(1)])
        try folder.write(Data(self.repository.roots[0]), as: "root.json")
        try folder.write(Data(self.repository.lists[0]), as: "bundled.json")
        try self.store()
    }

    private static func entry(_ number: UInt8) throws -> PinList.Domain {
        let pin = Pin(kind: .publicKey, hashing: [number])
        return PinList.Domain(PinnedDomain(try HostName("api.example.com"), pins: [KnownPin(pin)]))
    }

    /// Publishes the next list.
    mutating func publishList(_ edit: (inout PinList) -> Void = { _ in }) throws {
        let entry = try Self.entry(UInt8(truncatingIfNeeded: self.repository.list.version + 1))
        try self.repository.publishList { list in
            list.domains = [entry]
            edit(&list)
        }
        try self.store()
    }

    /// Puts everything where the server looks.
    func store() throws {
        let site = self.folder.appendingPathComponent("site")
        try FileManager.default.createDirectory(
            at: site.appendingPathComponent("root"), withIntermediateDirectories: true)
        for (index, root) in self.repository.roots.enumerated() {
            try site.write(Data(root), as: "root/\(index + 1).json")
        }
        guard let list = self.repository.lists.last else { return }
        try Data(list).write(to: site.appendingPathComponent("pins.json"), options: .atomic)
    }

    /// Runs `body` beside the server.
    ///
    /// - Parameter body: Is given the base address.
    func serving<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let python = try #require(Self.python, "there is no python3")
        let arguments = [
            "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
            self.folder.appendingPathComponent("site").path, "0",
        ]
        return try await withRunningProcess(python, arguments, in: self.folder) { server in
            let line = try #require(await server.nextLine(), "the server did not start")
            let words = line.split(separator: " ")
            let index = try #require(words.firstIndex(of: "port"), "\(line)")
            return try await body("http://127.0.0.1:\(words[words.index(after: index)])")
        }
    }
}
