// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Log lists of Certificate Transparency at the service")
struct LogsTests {
    private static let name = "com.example.app"
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let file = Array(#"{"log_list_timestamp": "2026-11-20T00:00:00Z", "operators": []}"#.utf8)

    private static func path(_ digest: String, of name: String = Self.name) -> String {
        "/v1/lists/\(name)/logs/\(digest).json"
    }

    /// The service with a token that publishes, and what it publishes.
    private func withService(
        _ body: (PublishedService, String, SQLiteStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(path: folder.appendingPathComponent("tumbler.sqlite").path)
        let random = (0..<AccessToken.randomBytes).map { UInt8($0 + 1) }
        let publisher = try #require(AccessToken.make(.publish, names: [Self.name], random: random, at: Self.start))
        try await PublishedService.with(store: store) { service in
            try await store.write { try $0.add(publisher.token) }
            try await body(service, "Authorization: Bearer \(publisher.secret)\r\n", store)
        }
    }

    @Test("one is uploaded with a token that publishes, and served to the public as it is, for ever")
    func oneIsUploadedWithATokenThatPublishesAndServedToThePublicAsItIsForEver() async throws {
        try await self.withService { service, token, _ in
            let path = Self.path(Envelope.digest(of: Self.file))
            #expect(try await service.ask("GET", path).statuses == [404])
            #expect(try await service.ask("PUT", path, body: Self.file).statuses == [401])
            #expect(try await service.ask("PUT", path, service.reader, body: Self.file).statuses == [403])
            #expect(try await service.ask("PUT", path, token, body: Self.file).statuses == [201])
            #expect(try await service.ask("PUT", path, token, body: Self.file).statuses == [200])
            let answer = try await service.ask("GET", path)
            #expect(
                answer.statuses == [200]
                    && answer.text.hasSuffix("\r\n\r\n" + String(decoding: Self.file, as: UTF8.self)))
            #expect(answer.text.lowercased().contains("cache-control: public, max-age=31536000, immutable\r\n"))
            let tag = "\"\(Envelope.digest(of: Self.file))\""
            #expect(answer.text.lowercased().contains("etag: \(tag)\r\n"))
            #expect(try await service.ask("GET", path, "If-None-Match: \(tag)\r\n").statuses == [304])
        }
    }

    @Test("a body that is not the file of the path, no log list, for another name or too large is refused")
    func bodyThatIsNotTheFileOfThePathNoLogListForAnotherNameOrTooLargeIsRefused() async throws {
        try await self.withService { service, token, _ in
            let digest = Envelope.digest(of: Self.file)
            let other = Array("{}".utf8)
            for (path, body, status) in [
                (Self.path(digest), other, 422), (Self.path(Envelope.digest(of: other)), other, 422),
                (Self.path("x"), Self.file, 400), (Self.path(digest.uppercased()), Self.file, 400),
                (Self.path(digest, of: "other"), Self.file, 403),
            ] {
                let answer = try await service.ask("PUT", path, token, body: body)
                #expect(answer.statuses == [status], "\(answer.text)")
            }
            let large = try await service.ask(
                "PUT \(Self.path(digest)) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(token)"
                    + "Content-Length: 4194305\r\n\r\n")
            #expect(large.statuses == [413])
            #expect(try await service.ask("GET", Self.path(digest)).statuses == [404])
        }
    }

    @Test("a list whose log list is not here is refused, logs-missing, and taken when it was uploaded")
    func listWhoseLogListIsNotHereIsRefusedLogsMissingAndTakenWhenItWasUploaded() async throws {
        var repository = try RepositorySimulator(at: Self.start)
        let anchors = [Self.name: repository.roots[0]]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(path: folder.appendingPathComponent("tumbler.sqlite").path)
        let publisher = Publisher(store: store, anchors: anchors)
        let root = repository.roots[0]
        let list = try repository.publishList { $0.logs = ListedLogs(of: Self.file) }
        let refusal = await #expect(throws: PublicationError.self) {
            try await publisher.publish([root, list], name: Self.name, by: "test", at: Self.start)
        }
        #expect(refusal?.code.description == "logs-missing" && refusal?.code.status == 422)
        #expect(try await store.read { try $0.names() }.isEmpty)
        let logs = StoredLogs(name: Self.name, storedAt: Self.start, bytes: Self.file)
        // That of another name does not count.
        let foreign = StoredLogs(name: "other", storedAt: Self.start, bytes: Self.file)
        _ = try await store.write { try $0.add(foreign) }
        await #expect(throws: PublicationError.self) {
            try await publisher.publish([root, list], name: Self.name, by: "test", at: Self.start)
        }
        #expect(try await store.write { try $0.add(logs) })
        let changes = try await publisher.publish([root, list], name: Self.name, by: "test", at: Self.start)
        #expect(changes == [.root(1), .list(2)])
    }

    @Test("a leaked token cannot push out the log list of the served list, nor fill the disk with others")
    func leakedTokenCannotPushOutTheLogListOfTheServedListNorFillTheDiskWithOthers() async throws {
        var repository = try RepositorySimulator(at: Self.start)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(path: folder.appendingPathComponent("tumbler.sqlite").path)
        let list = try repository.publishList { $0.logs = ListedLogs(of: Self.file) }
        let served = StoredLogs(name: Self.name, storedAt: Self.start, bytes: Self.file)
        _ = try await store.write { try $0.add(served) }
        _ = try await Publisher(store: store, anchors: [Self.name: repository.roots[0]]).publish(
            [repository.roots[0], list], name: Self.name, by: "test", at: Self.start)
        for number in 0..<40 {
            // Each is of 4 MiB: memory counts, too.
            let body = [UInt8](repeating: 0x20, count: 4_194_304 - 8) + Array("\(number)".utf8)
            let logs = StoredLogs(name: Self.name, storedAt: Self.start, bytes: body)
            _ = try await store.write { try $0.add(logs) }
        }
        for number in 0..<40 {
            let logs = StoredLogs(name: Self.name, storedAt: Self.start, bytes: Array("\(number)".utf8))
            _ = try await store.write { try $0.add(logs) }
        }
        let kept = try await store.read { try $0.logs(of: Self.name) }
        #expect(kept.count == StoreTransaction.maximumLogs && kept.contains { $0.bytes == Self.file })
        #expect(kept.reduce(0) { $0 + Int64($1.bytes.count) } <= StoreTransaction.maximumLogBytes)
    }
}
