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

    /// A folder that is removed at the end.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("a file that is no database is called damaged, by its path, with what to do, and stays as it was")
    func aFileThatIsNoDatabaseIsCalledDamagedByItsPathWithWhatToDoAndStaysAsItWas() async throws {
        try await self.withFolder { folder in
            let file = folder.appendingPathComponent("a.sqlite")
            let bytes = Data(repeating: UInt8(ascii: "x"), count: 8_192)
            try bytes.write(to: file)
            let error = #expect(throws: StoreError.self) { try SQLiteStore(path: file.path) }
            #expect(error?.code == .damaged)
            #expect(error?.detail.contains(file.path) == true)
            #expect(error?.detail.contains("put the newest copy in its place") == true)
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test("pages that were overwritten are called damaged, by the path of the database, for a copy as well")
    func pagesThatWereOverwrittenAreCalledDamagedByThePathOfTheDatabaseForACopyAsWell() async throws {
        try await self.withFolder { folder in
            let (file, copy) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("copy.sqlite"))
            do {
                let store = try SQLiteStore(path: file.path)
                for version in 1...200 {
                    try await store.write { store in
                        try store.addRoot([UInt8](repeating: 1, count: 2_000), version: Int64(version), name: "a")
                    }
                }
            }
            // All but the first page, which has the schema's own root, as a disk does that lies.
            var bytes = try Data(contentsOf: file)
            #expect(bytes.count > 100_000)
            bytes.replaceSubrange(8_192..., with: Data(repeating: 0xA5, count: bytes.count - 8_192))
            try bytes.write(to: file)
            for name in ["a.sqlite-wal", "a.sqlite-shm"] {
                try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
            var errors: [StoreError] = []
            do {
                let store = try SQLiteStore(path: file.path)
                do { try await store.backUp(to: copy.path) } catch let error as StoreError { errors.append(error) }
            } catch let error as StoreError { errors.append(error) }
            #expect(errors.map(\.code) == [.damaged])
            #expect(errors.first?.detail.hasPrefix("\(file.path) is damaged") == true, "\(errors)")
        }
    }

    @Test("a database in a folder that is not there, and a copy into one, name the file that cannot be written")
    func aDatabaseInAFolderThatIsNotThereAndACopyIntoOneNameTheFileThatCannotBeWritten() async throws {
        try await self.withFolder { folder in
            let nowhere = folder.appendingPathComponent("nowhere/a.sqlite").path
            let absent = #expect(throws: StoreError.self) { try SQLiteStore(path: nowhere) }
            #expect(absent?.code == .unavailable)
            #expect(absent?.detail.contains("\(nowhere) cannot be opened or written") == true)
            let store = try SQLiteStore(path: folder.appendingPathComponent("a.sqlite").path)
            let copy = await #expect(throws: StoreError.self) { try await store.backUp(to: nowhere) }
            #expect(copy?.code == .unavailable)
            #expect(copy?.detail.contains("\(nowhere) cannot be opened or written") == true)
        }
    }

    @Test("of two copies to one name at the same time one gets it, whole, and the other one says that it is there")
    func ofTwoCopiesToOneNameAtTheSameTimeOneGetsItWhole() async throws {
        try await self.withFolder { folder in
            let file = folder.appendingPathComponent("a.sqlite").path
            try await SQLiteStore(path: file).write { store in
                try store.addRoot([UInt8](repeating: 1, count: 1_000_000), version: 1, name: "a")
            }
            let copy = folder.appendingPathComponent("copy.sqlite").path
            let stores = try (0..<4).map { _ in try SQLiteStore(path: file, for: .copying) }
            let refused = try await withThrowingTaskGroup(of: StoreError?.self) { group in
                for store in stores {
                    group.addTask {
                        do { try await store.backUp(to: copy) } catch let error as StoreError { return error }
                        return nil
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refused.count { $0 == nil } == 1)
            #expect(refused.compactMap { $0 }.allSatisfy { $0.detail == "\(copy) is there already" }, "\(refused)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
            let kept = try await SQLiteStore(path: copy, for: .reading).read { try $0.roots(of: "a") }
            #expect(kept.map(\.count) == [1_000_000])
        }
    }

    @Test("a database that may not grow says that there is no room, and what it had stays")
    func aDatabaseThatMayNotGrowSaysThatThereIsNoRoomAndWhatItHadStays() async throws {
        try await self.withFolder { folder in
            let file = folder.appendingPathComponent("a.sqlite")
            let store = try SQLiteStore(path: file.path)
            try await store.write { try $0.addRoot([1], version: 1, name: "a") }
            let error = await #expect(throws: StoreError.self) {
                try await store.write { store in
                    // What a full disk answers, without one.
                    _ = try store.connection.rows("PRAGMA max_page_count = 1", [])
                    try store.addRoot([UInt8](repeating: 2, count: 1_000_000), version: 2, name: "a")
                }
            }
            #expect(error?.code == .full)
            #expect(error?.detail.contains("there is no room for \(file.path)") == true)
            let roots = try await store.read { try $0.roots(of: "a") }
            #expect(roots == [[1]])
        }
    }
}
