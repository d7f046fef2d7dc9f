// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// A file system that was written down: `d` folder, `f` file, `l` link, `r` refused, `w` writable folder.
struct RecordedFiles {
    /// Where recordings are.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Recorded")

    var paths: Set<String> = []
    var links: [String: String] = [:]
    var refused: Set<String> = []
    var writableFolders: Set<String> = []
    var contents: [String: [UInt8]] = [:]
    var schemes: Set<String> = []
    var forks = false

    /// An empty one.
    init() {}

    /// One of `Recorded/filesystems`.
    init(_ name: String) throws {
        let file = Self.folder.appendingPathComponent("filesystems").appendingPathComponent(name)
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words[0] {
            case "d", "f": self.paths.insert(words[1])
            case "l":
                let link = words[1].components(separatedBy: " -> ")
                self.paths.insert(link[0])
                self.links[link[0]] = link[1]
            case "r": self.refused.insert(words[1])
            case "w": self.writableFolders.insert(words[1])
            default: continue
            }
        }
    }

    func exists(_ path: String) throws(ObservationError) -> Bool {
        guard !self.refused.contains(path) else { throw ObservationError(.refused, "file") }
        return self.paths.contains(path)
    }
}
