// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListServer
import PinningTesting
import Testing

@testable import PinListStore

/// The service in this process, on loopback, with a list published.
struct PublishedService {
    /// Its port.
    let port: Int
    /// The path of the list that is published.
    let list: String
    /// The path of its first root.
    let root: String
    /// The field with a token that reads.
    let reader: String

    /// Runs `body` beside it.
    ///
    /// - Parameters:
    ///   - store: Where it keeps everything; a new SQLite file without one.
    ///   - change: Changes the configuration.
    static func with(
        store given: (any ServiceStore)? = nil, _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (PublishedService) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let start = Timestamp(secondsSince1970: 1_795_219_200)
        let repository = try RepositorySimulator(at: start)
        let name = repository.root.name
        var configuration = ServiceConfiguration()
        configuration.listen = try #require(ListenAddress("127.0.0.1:0"))
        configuration.roots = [name: repository.roots[0]]
        configuration.deadlines = .ample
        change(&configuration)
        let store = try given ?? SQLiteStore(path: folder.appendingPathComponent("tumbler.sqlite").path)
        _ = try await Publisher(store: store, anchors: configuration.roots).publish(
            [repository.roots[0], repository.lists[0]], name: name, by: "test", at: start)

        let random = (0..<AccessToken.randomBytes).map { UInt8($0) }
        let reader = try #require(AccessToken.make(.read, names: [], random: random, at: start))
        try await store.write { try $0.add(reader.token) }
        try await PinListService.serving(configuration, store: store) { _, address in
            let port = try #require(URL(string: address)?.port)
            try await body(
                PublishedService(
                    port: port, list: "/v1/lists/\(name)/pins.json", root: "/v1/lists/\(name)/root/1.json",
                    reader: "Authorization: Bearer \(reader.secret)\r\n"))
        }
    }

    /// Sends bytes, and reads to the end of the connection.
    func ask(_ bytes: [UInt8]) async throws -> RawAnswer { try await RawConnection.ask(self.port, bytes) }

    /// Sends a text, and reads to the end of the connection.
    func ask(_ text: String) async throws -> RawAnswer { try await self.ask(Array(text.utf8)) }

    /// Sends a request that asks for the end of the connection.
    func ask(_ method: String, _ path: String, _ fields: String = "", body: [UInt8] = []) async throws -> RawAnswer {
        let length = body.isEmpty ? "" : "Content-Length: \(body.count)\r\n"
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(length)\(fields)\r\n"
        return try await self.ask(Array(head.utf8) + body)
    }

    /// Expects that it serves on. Where its deadlines are short, it may cut off a request that a slow machine did not send
    /// in time: then the next one says.
    func expectServing(after what: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var answer = try await self.ask("GET", self.list)
        for _ in 0..<100 where answer.bytes.isEmpty { answer = try await self.ask("GET", self.list) }
        #expect(answer.statuses == [200], "after \(what)", sourceLocation: sourceLocation)
        #expect(answer.text.contains("\"payloadType\""), "after \(what)", sourceLocation: sourceLocation)
    }
}

extension ServiceConfiguration.Deadlines {
    /// Deadlines that no request of a test misses, however slow the machine is. A connection that its other side does not
    /// close is closed soon all the same.
    static var ample: Self {
        var deadlines = Self()
        deadlines.head = .seconds(3_600)
        deadlines.body = .seconds(3_600)
        deadlines.answer = .seconds(3_600)
        return deadlines
    }
}
