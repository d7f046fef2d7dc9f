// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListMetadata
import PinListRepository

/// `--root FILE`: a signed root that somebody names.
enum RootOption {
    /// Reads it; it must carry a threshold of its own keys.
    static func read(_ path: String) throws(CommandFailure) -> Root {
        try CommandFailure.wrapping { () throws(RepositoryError) in try RootFile.read(path).root }
    }
}

extension ProjectOption {
    /// The newest root of the project folder.
    ///
    /// - Throws: ``CommandFailure`` when there is no folder, or no root in it.
    func newestRoot() throws(CommandFailure) -> Root {
        let project: ProjectFolder
        do { project = try self.find() } catch {
            throw CommandFailure(.usage, error.message, hint: "--root FILE, or -C DIR")
        }
        let newest = try CommandFailure.wrapping { () throws(RepositoryError) in try project.newestRoot() }
        guard let newest else {
            throw CommandFailure(
                .undecided, "there is no root in the project folder", hint: "--root FILE names one elsewhere")
        }
        return newest
    }
}
