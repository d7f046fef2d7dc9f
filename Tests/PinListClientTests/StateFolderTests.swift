// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient
import PinningTesting
import Testing

@Suite("The state folder")
struct StateFolderTests {
    /// Runs something with a path in a temporary folder, at which there is nothing yet.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("state").path)
    }

    @Test("what is written is read back by another start, and only the owner may")
    func whatIsWrittenIsReadBackByAnotherStartAndOnlyTheOwnerMay() async throws {
        try await self.withPath { path in
            let client = try TestClient(store: StateFolder(path: path))
            _ = try client.server.publish { try $0.publishRoot() }
            try client.publish()
            #expect(await (try client.launch()).refresh().storeFailure == nil)
            #expect(try client.launch().version == 2)
            for file in ["roots/2.json", "pins.json", "state.json", "installation-id"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            let left = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(".new") }
            #expect(left.isEmpty)
        }
    }

    @Test("a folder that cannot be made: the list is in force all the same")
    func folderThatCannotBeMadeTheListIsInForceAllTheSame() async throws {
        try await self.withPath { path in
            try Data("a file".utf8).write(to: URL(fileURLWithPath: path))
            let client = try TestClient(store: StateFolder(path: path))
            try client.publish()
            let pinning = try client.launch()
            let outcome = await pinning.refresh()
            #expect(outcome.isSuccess && outcome.storeFailure != nil)
            #expect(pinning.version == 2)
        }
    }

    @Test("a folder, a link or a device in the place of a file is damage, and is not followed or waited for")
    func folderALinkOrADeviceInThePlaceOfAFileIsDamageAndIsNotFollowedOrWaitedFor() async throws {
        try await self.withPath { path in
            let store = StateFolder(path: path)
            let client = try TestClient(store: store)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: "\(path)/pins.json", withDestinationPath: "/dev/zero")
            try FileManager.default.createDirectory(atPath: "\(path)/state.json", withIntermediateDirectories: false)
            try #require(mkfifo("\(path)/installation-id", 0o600) == 0)
            let pinning = try client.launch()
            #expect(pinning.version == 1)
            let kinds = await pinning.kinds()
            #expect(kinds.filter { $0 == .stateDamaged }.count == 3, "\(kinds)")
        }
    }

    @Test("a file over the limit is not read")
    func fileOverTheLimitIsNotRead() async throws {
        try await self.withPath { path in
            let store = StateFolder(path: path)
            try store.write([UInt8](repeating: 0x41, count: 1_001), to: .pins)
            #expect(store.read(.pins, maximumBytes: 1_000) == .damaged("it is over 1000 bytes"))
            #expect(store.read(.pins, maximumBytes: 1_001) == .bytes([UInt8](repeating: 0x41, count: 1_001)))
        }
    }

    @Test("what a crash left beside a file is overwritten")
    func whatACrashLeftBesideAFileIsOverwritten() async throws {
        try await self.withPath { path in
            let store = StateFolder(path: path)
            try store.write([1], to: .pins)
            try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: "\(path)/pins.json.new"))
            try store.write([2], to: .pins)
            #expect(store.read(.pins, maximumBytes: 10) == .bytes([2]))
        }
    }

    @Test("writers take turns")
    func writersTakeTurns() async throws {
        try await self.withPath { path in
            // Each writer reads a number and writes it plus one: with two at once, one of them would be lost.
            let writers = 8
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<writers {
                    group.addTask {
                        let store = StateFolder(path: path)
                        try store.withLock { () throws(StateStoreError) in
                            var count: UInt8 = 0
                            if case .bytes(let bytes) = store.read(.pins, maximumBytes: 1) { count = bytes[0] }
                            try store.write([count + 1], to: .pins)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(StateFolder(path: path).read(.pins, maximumBytes: 1) == .bytes([UInt8(writers)]))
        }
    }
}
