// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata

/// The folders of `Tests/Fixtures`, with what clients of earlier days kept. They are never made again: an app that is
/// updated has to go on with what is there.
enum KeptFolders {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// The folders of releases, the newest last.
    static let released: [String] = {
        let folder = Self.fixtures.appendingPathComponent("released")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { "released/\($0)" }
    }()

    /// All folders, the newest last: what was kept before there was a release, and those of releases.
    static let all: [String] = ["before-0.1-2026-11"] + Self.released

    /// The folder of a client.
    static func folder(_ fixture: String, _ client: String) -> URL {
        Self.fixtures.appendingPathComponent("\(fixture)/\(client)")
    }

    /// Runs something with a folder that has a copy of a client's; empty without one.
    static func withCopy(of kept: URL? = nil, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if let kept {
            try FileManager.default.copyItem(at: kept, to: folder)
        } else {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try await body(folder)
    }

    /// Hands a folder that a client of today wrote to `scripts/release-fixtures`, where that asks for it.
    ///
    /// - Returns: Whether it was asked for: then it is the newest one, and there is none to compare it with.
    static func handOver(_ folder: URL) throws -> Bool {
        guard let target = ProcessInfo.processInfo.environment["TUMBLER_FIXTURE"] else { return false }
        try FileManager.default.copyItem(at: folder, to: URL(fileURLWithPath: target))
        return true
    }

    /// The bytes of a file.
    static func bytes(_ folder: URL, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// The files of a folder, and the members of those that are JSON. Names that are digests are all the same name.
    static func form(of folder: URL) throws -> [String: [String]] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let files = names.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(
                atPath: folder.appendingPathComponent(name).path, isDirectory: &isFolder)
            return !isFolder.boolValue
        }
        return files.reduce(into: [:]) { form, name in
            let value = try? JSONValue(strict: try self.bytes(folder, name))
            let members = Set(value?.memberNames ?? []).filter { $0.utf8.count < 64 }
            let parts = name.split(separator: "/").map { $0.utf8.count < 64 ? String($0) : "DIGEST" }
            form[parts.joined(separator: "/"), default: []] += members.sorted()
        }
    }
}

extension JSONValue {
    /// The names of all members, those of others within included.
    fileprivate var memberNames: [String] {
        switch self {
        case .object(let members): members.flatMap { [$0.name] + $0.value.memberNames }
        case .array(let values): values.flatMap(\.memberNames)
        default: []
        }
    }
}
