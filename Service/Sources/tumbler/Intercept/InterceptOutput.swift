// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import InterceptionBench
import PinListRepository

/// The files for the results of a bench beside standard output.
struct InterceptOutput: ParsableArguments {
    @Option(
        name: .customLong("ca-out"),
        help: ArgumentHelp("Write the CA that the client is to trust, in PEM.", valueName: "file"), completion: .file())
    var authority: String?

    @Option(
        help: ArgumentHelp("Write the address of each case as JSON, once the bench listens.", valueName: "file"),
        completion: .file())
    var addresses: String?

    @Option(
        help: ArgumentHelp(
            "Write the result: JSON, or Markdown where the name ends .md. Repeatable.", valueName: "file"),
        completion: .file())
    var report: [String] = []

    @Option(help: ArgumentHelp("Write the result as JUnit's XML.", valueName: "file"), completion: .file())
    var junit: String?

    @Flag(help: "Print the result as JSON.")
    var json = false

    /// Says where the bench listens.
    func announce(_ bench: InterceptionBench, _ cases: [(name: String, address: String)]) throws {
        for path in self.report + [self.junit].compactMap({ $0 }) {
            try CommandError.wrapping { () throws(RepositoryError) in try WrittenFile.expectPlace(at: path) }
        }
        if let authority { try Self.write(bench.authorityPEM, to: authority) }
        for (name, address) in cases { StandardError.told("\(name) on \(address)") }
        if let addresses {
            let table = Dictionary(cases.map { ($0.name, $0.address) }) { first, _ in first }
            try Self.write(String(decoding: try JSONOutput.line(table), as: UTF8.self) + "\n", to: addresses)
        }
    }

    /// Writes the result.
    func write(_ report: InterceptionReport) throws {
        if self.json {
            try JSONOutput.write(report)
        } else {
            try StandardOutput.write(lines: report.lines)
        }
        for path in self.report {
            let text =
                path.hasSuffix(".md")
                ? report.markdown : String(decoding: try JSONOutput.line(report), as: UTF8.self) + "\n"
            try Self.write(text, to: path)
        }
        if let junit { try Self.write(report.junit, to: junit) }
    }

    private static func write(_ text: String, to path: String) throws {
        try CommandError.wrapping { () throws(RepositoryError) in
            try WrittenFile.write(Array(text.utf8), to: path, .published, existing: .replaced)
        }
    }
}
