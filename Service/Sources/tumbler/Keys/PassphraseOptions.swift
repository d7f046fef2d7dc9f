// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListRepository

/// `--passphrase-file FILE` and `--passphrase-env NAME`: the n-th of both belongs to the n-th key.
struct PassphraseOptions: ParsableArguments {
    private static let fileOption = "passphrase-file"
    private static let environmentOption = "passphrase-env"

    @Option(
        name: .customLong(Self.fileOption),
        help: ArgumentHelp("The passphrase or PIN of a key is the first line of this file.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        name: .customLong(Self.environmentOption),
        help: ArgumentHelp("The passphrase or PIN of a key is in this environment variable.", valueName: "name"))
    var variables: [String] = []

    /// The number of passphrases.
    var count: Int { self.files.count + self.variables.count }

    /// The source of the passphrase of the n-th key, counted from 0: the terminal, where there are fewer. A file that other
    /// users can open is used, with a warning.
    func source(at index: Int) -> PassphraseSource {
        let sources = self.sources(in: CommandLine.arguments)
        guard index < sources.count else { return .terminal }
        if case .file(let path) = sources[index], BoundedFile.isOpenToOthers(path) {
            StandardError.warning(
                "\(path): other users of this machine can open this file, and it holds a passphrase: chmod 600 \(path)")
        }
        return sources[index]
    }

    /// The parser keeps the order within an option, not between two: that is read off the arguments.
    private func sources(in arguments: [String]) -> [PassphraseSource] {
        var files = self.files[...]
        var variables = self.variables[...]
        var sources: [PassphraseSource] = []
        for argument in arguments {
            switch argument.prefix(while: { $0 != "=" }) {
            case "--\(Self.fileOption)": if let file = files.popFirst() { sources.append(.file(file)) }
            case "--\(Self.environmentOption)":
                if let variable = variables.popFirst() { sources.append(.environment(variable)) }
            default: break
            }
        }
        return sources
    }
}
