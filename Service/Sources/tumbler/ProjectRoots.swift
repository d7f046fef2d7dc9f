// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The roots of the project folder: the nearest parent with a `tumbler.yaml`, or `-C DIR` (formats.md, section 9).
struct ProjectRoots: ParsableArguments {
    @Option(name: .customShort("C"), help: ArgumentHelp("The project folder.", valueName: "dir"))
    var folder: String?

    /// The newest root of the folder.
    ///
    /// - Throws: ``CommandFailure`` when there is no folder, or no root in it.
    func newest() throws(CommandFailure) -> String {
        guard let folder = self.folder ?? Self.nearest() else {
            throw CommandFailure(
                .usage, "there is no tumbler.yaml in this folder or above it", hint: "--root FILE, or -C DIR")
        }
        let roots = "\(folder)/root"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: roots)) ?? [])
            .compactMap { $0.hasSuffix(".json") ? Int64($0.dropLast(".json".count)) : nil }
        guard let newest = versions.filter({ $0 > 0 }).max() else {
            throw CommandFailure(.undecided, "\(roots) has no root", hint: "--root FILE names one elsewhere")
        }
        return "\(roots)/\(newest).json"
    }

    private static func nearest() -> String? {
        var folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
        // As many as a path can have; a parent of the root folder is the root folder.
        for _ in 0...folder.pathComponents.count {
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("tumbler.yaml").path) {
                return folder.path
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}
