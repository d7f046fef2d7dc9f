// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Crypto
import Foundation
import PinListMetadata
import PinListServer
import PinListStore
import PinReportAnalysis

/// `adoption`: the spread of a list, where a cache answers for the service.
struct AdoptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.adoption.rawValue, abstract: ServiceCommand.adoption.abstract,
        subcommands: [AdoptionImportCommand.self])
}

struct AdoptionImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Count the requests in the log of a cache or CDN for adoption.",
        discussion: """
            FILE has a JSON object in each line: time (RFC 3339), ifNoneMatch, status and path. What is no request for a \
            list is passed over. The same file is not counted twice. No address is in it, and none is needed.
            """)

    @Argument(help: "The log; - is standard input.", completion: .file())
    var file: String

    @Flag(help: "Print the numbers as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .adding)
        var log = try await store.edgeLog()
        var hash = SHA256()
        let handle = try InputFile.open(self.file)
        defer { try? handle.close() }
        do {
            while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
                hash.update(data: part)
                log.read(part: Array(part))
            }
        } catch { throw CommandError(.undecided, "\(self.file) cannot be read to its end; nothing was counted") }
        log.finish()
        let isAdded = try await store.add(
            log, digest: Hexadecimal.text(of: hash.finalize()),
            named: PrintableText.line(self.file, maximumLength: 256), at: self.time.time)
        guard isAdded else {
            throw CommandError(.doesNotHold, "\(self.file) was counted before", hint: "see tumbler audit-log show")
        }
        struct Numbers: Encodable {
            let counted, others, unreadable: Int64
        }
        if self.json {
            return try JSONOutput.write(
                Numbers(counted: log.counted, others: log.others, unreadable: log.unreadable))
        }
        try StandardOutput.write(lines: [
            "counted \(log.counted) requests; \(log.others) were about something else, "
                + "\(log.unreadable) lines could not be read"
        ])
    }
}
