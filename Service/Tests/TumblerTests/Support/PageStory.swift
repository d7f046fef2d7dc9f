// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

/// A page of docs/operations on its way: its commands run exactly as they stand, and after each block clients come by.
/// Some of them verify everything, the others are of a system without ML-DSA.
///
/// A client is served each file as it is, or as it was: any mixture that caches could hold, since the last wait. It
/// never sees a file older than one that it saw.
struct PageStory {
    /// A client of one kind, and which files it saw.
    struct Client {
        let isNew: Bool
        var state: TrustState
        var seen: [String: Int]
    }

    /// A file that a client did not take.
    struct Refused: Hashable {
        let isNew: Bool
        let kind: MetadataRole
        let code: MetadataError.Code
    }

    private enum Step {
        case run(String)
        case wait
        case begin
    }

    /// The algorithms that a client verifies whose system has no ML-DSA.
    static let old: Set<MetadataKey.Algorithm> = [.ecdsaP256SHA256, .ed25519]

    private static let pages = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs/operations")
    private static let lists = "v1/lists/com.example.app"

    /// The project folder.
    let project: URL

    /// All that was refused, once each.
    private(set) var refused: Set<Refused> = []

    /// The clients, as they came out of the last block.
    private(set) var clients: [Client] = []

    /// The number of visits of clients.
    private(set) var visits = 0

    private let folder: URL
    private let address: String
    private var history: [String: [[UInt8]?]] = [:]
    private var floor: [String: Int] = [:]

    private init(in folder: URL, address: String) throws {
        self.folder = folder
        self.project = folder.appendingPathComponent("project")
        self.address = address
        let program = try #require(CommandRun.program, "there is no tumbler beside the tests")
        let bin = folder.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: bin.appendingPathComponent("tumbler"), withDestinationURL: program)
    }

    /// Runs a page, beside a server of the folder that it exports to.
    ///
    /// - Parameters:
    ///   - page: The name of its file.
    ///   - waiting: Whether its waits are kept.
    ///   - body: Is given the story at its end.
    static func tell(
        _ page: String, waiting: Bool = true, _ body: (inout PageStory) async throws -> Void
    ) async throws {
        let python = try #require(ServedLists.python, "there is no python3")
        try await withTemporaryFolder { folder in
            let www = folder.appendingPathComponent("project/www")
            try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
            let server = ["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", www.path, "0"]
            try await withRunningProcess(python, server, in: folder) { server in
                let words = try #require(await server.nextLine(), "the server did not start").split(separator: " ")
                let index = try #require(words.firstIndex(of: "port"))
                var story = try PageStory(
                    in: folder, address: "http://127.0.0.1:\(words[words.index(after: index)])")
                try await story.go(through: try Self.steps(self.pages.appendingPathComponent(page)), waiting: waiting)
                try await body(&story)
            }
        }
    }

    /// The steps of a page, after those of the page that it starts from.
    private static func steps(_ page: URL) throws -> [Step] {
        var steps: [Step] = []
        var block: [Substring]?
        for line in String(decoding: try Data(contentsOf: page), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if let match = line.wholeMatch(of: /Starts from: \[[^\]]*\]\(([^)#]+)\)/) {
                let before = page.deletingLastPathComponent().appendingPathComponent(String(match.1))
                steps = try self.steps(before.standardizedFileURL) + [.begin]
            } else if block == nil, line == "```sh" {
                block = []
            } else if let lines = block, line == "```" {
                steps.append(.run(lines.joined(separator: "\n") + "\n"))
                block = nil
            } else if block != nil {
                block?.append(line)
            } else if line.hasPrefix("**Wait ") {
                steps.append(.wait)
            }
        }
        return steps
    }

    private mutating func go(through steps: [Step], waiting: Bool) async throws {
        let begin = try #require(steps.lastIndex { if case .begin = $0 { true } else { false } })
        for (index, step) in steps.enumerated() {
            switch step {
            case .run(let commands):
                try await self.run(commands)
                self.look()
                if index > begin { try self.visit() }
            case .wait where waiting || index < begin, .begin:
                self.floor = self.history.mapValues { $0.count - 1 }
                if index == begin { try self.visit() }
            case .wait: break
            }
        }
    }

    /// Runs commands in the project folder.
    func run(_ commands: String) async throws {
        let names = ["ROOT", "PINS", "QUANTUM", "QUANTUM_ROOT"]
        let passphrases = names.map { "export \($0)_PASSPHRASE='passphrase of \($0)'\n" }.joined()
        try self.folder.write("\(passphrases)export LISTS=\(self.address)\n\(commands)", as: "script.sh")
        let line = #"cd project && PATH="$OLDPWD/bin:$PATH" sh -eu ../script.sh"#
        try await CommandRun.shell(line, in: self.folder).expectSuccess()
    }

    /// Reads what is published now.
    private mutating func look() {
        let names = ["pins.json"] + (1...3).map { "root/\($0).json" }
        for name in names {
            let file = self.project.appendingPathComponent("www/\(Self.lists)/\(name)")
            guard let bytes = (try? Data(contentsOf: file)).map({ Array($0) }) else { continue }
            var contents = self.history[name] ?? [nil]
            if contents.last != bytes { contents.append(bytes) }
            self.history[name] = contents
        }
    }

    /// Each client refreshes from each mixture of files; those that are new are the ones that an app ships.
    private mutating func visit() throws {
        let root = Array(try self.project.contents(of: "app/tumbler-root.json"))
        let list = Array(try self.project.contents(of: "app/tumbler-pins.json"))
        var all = self.clients
        for (isNew, algorithms) in [(true, MetadataKey.Algorithm.verifiable), (false, Self.old)] {
            let state = try TrustState(bundledRoot: root, bundledList: list, verifying: algorithms)
            all.append(Client(isNew: isNew, state: state, seen: [:]))
        }
        var after: [[String]: Client] = [:]
        for client in all {
            for mixture in self.mixtures(for: client) {
                var next = client
                next.seen = mixture
                self.refresh(&next, from: mixture)
                self.visits += 1
                let held = [next.state.outside?.digest ?? "", "\(next.state.chain.newest.version)", "\(next.isNew)"]
                after[held + mixture.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }] = next
            }
        }
        self.clients = Array(after.values)
    }

    private func mixtures(for client: Client) -> [[String: Int]] {
        var mixtures: [[String: Int]] = [[:]]
        for (name, contents) in self.history {
            let minimum = max(self.floor[name] ?? 0, client.seen[name] ?? 0)
            mixtures = mixtures.flatMap { mixture in
                (minimum..<contents.count).map { index in mixture.merging([name: index]) { $1 } }
            }
        }
        return mixtures
    }

    /// One refresh; what is refused is kept, and so is a list that is not current or older than before.
    private mutating func refresh(_ client: inout Client, from mixture: [String: Int]) {
        let before = client.state.inForce?.held.list.version ?? 0
        func bytes(_ name: String) -> [UInt8]? { mixture[name].flatMap { self.history[name]?[$0] } }
        do throws(MetadataError) {
            while let root = bytes("root/\(client.state.chain.newest.version + 1).json") {
                try client.state.accept(root: root, at: Self.now)
            }
            if let list = bytes("pins.json") { _ = try client.state.accept(list: list, at: Self.now) }
        } catch {
            self.refused.insert(Refused(isNew: client.isNew, kind: error.kind, code: error.code))
        }
        let held = client.state.inForce?.held
        #expect(held?.status == .current)
        #expect((held?.list.version ?? 0) >= before)
    }

    /// The same story with the clients alone that hold a root.
    func atRoot(_ version: Int64) -> PageStory {
        var story = self
        story.clients = self.clients.filter { $0.state.chain.newest.version == version }
        return story
    }

    /// The answers of a client at the end to a list that it is offered, by kind of client.
    func answers(to file: String) throws -> [Bool: Set<String>] {
        let bytes = Array(try self.project.contents(of: file))
        var answers: [Bool: Set<String>] = [:]
        for client in self.clients {
            var state = client.state
            do throws(MetadataError) {
                answers[client.isNew, default: []].insert("\(try state.accept(list: bytes, at: Self.now))")
            } catch {
                answers[client.isNew, default: []].insert("\(error.code)")
            }
        }
        return answers
    }

    /// The commands of a page take the time of the machine, and so do the clients.
    private static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
