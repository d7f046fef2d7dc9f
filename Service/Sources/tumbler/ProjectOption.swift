// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import PinListRepository

/// `-C DIR`: the project folder, where it is not the nearest one above.
struct ProjectOption: ParsableArguments {
    @Option(name: .customShort("C"), help: ArgumentHelp("The project folder.", valueName: "dir"))
    var directory: String?

    /// The project folder.
    ///
    /// - Throws: ``CommandFailure`` when there is none.
    func find() throws(CommandFailure) -> ProjectFolder {
        do { return try ProjectFolder.find(named: self.directory, from: Self.working) } catch {
            throw CommandFailure(error)
        }
    }

    /// The working directory.
    static var working: URL {
        URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
    }
}
