// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListStore

@Suite("A store on SQLite")
struct SQLiteStoreTests {
    @Test("whose file is moved away says so instead of writing where no reader looks, and goes on when it is back")
    func whoseFileIsMovedAwaySaysSoInsteadOfWritingWhereNoReaderLooks() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, away) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
        let store = try SQLiteStore(path: file.path)
        try await store.write { try $0.addRoot([1], version: 1, name: "a") }
        try FileManager.default.moveItem(at: file, to: away)
        await #expect {
            try await store.write { try $0.addRoot([2], version: 2, name: "a") }
        } throws: {
            ($0 as? StoreError)?.code == .unavailable
        }
        try FileManager.default.moveItem(at: away, to: file)
        try await store.write { try $0.addRoot([3], version: 3, name: "a") }
        let roots = try await store.read { try $0.roots(of: "a") }
        #expect(roots == [[1], [3]])
    }
}
