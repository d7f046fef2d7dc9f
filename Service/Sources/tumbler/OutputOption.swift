// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListRepository

/// `-o FILE`: where a result goes that is a file.
struct OutputOption: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")], help: ArgumentHelp("Write to this file.", valueName: "file"))
    var path: String

    /// Writes the file whole; one that is there is replaced at once.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        try CommandFailure.wrapping { () throws(RepositoryError) in
            try WrittenFile.write(bytes, to: self.path, .published, existing: .replaced)
        }
    }
}
