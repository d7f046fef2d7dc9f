// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import Testing

/// Sources as tests write them.
enum SourceText {
    /// A pin made of one letter.
    static func pin(_ letter: Character) -> String { "sha256/\(String(repeating: letter, count: 42))A=" }

    /// A source with one entry that nothing is wrong with, and what is put after it.
    static func good(_ rest: String = "", entry: String = "", list: String = "") -> String {
        """
        name: com.example.app
        reportTo: [https://reports.example.net/v1]
        \(list)
        domains:
          - domain: api.example.com
            pins: [{pin: "\(self.pin("a"))"}, {pin: "\(self.pin("b"))"}]
            \(entry)
        \(rest)
        """
    }

    /// Reads a source.
    static func read(_ text: String, _ files: [String: String] = [:]) throws(RepositoryError) -> ListSource {
        try ListSource(Array(text.utf8), file: "tumbler.yaml", files: FilesInMemory(files))
    }

    /// Expects that a source is refused.
    ///
    /// - Parameters:
    ///   - place: What the error begins with.
    ///   - words: What stands in the error or its hint.
    static func expectRefusal(
        _ text: String, _ files: [String: String] = [:], at place: String, _ words: String...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        do {
            _ = try self.read(text, files)
            Issue.record("read without an error", sourceLocation: sourceLocation)
        } catch {
            let said = "\(error.reason) | \(error.hint ?? "")"
            #expect(error.reason.hasPrefix("\(place): "), "\(said)", sourceLocation: sourceLocation)
            #expect(error.code == .source, sourceLocation: sourceLocation)
            #expect(!said.contains("\n"), "\(said)", sourceLocation: sourceLocation)
            for word in words { #expect(said.contains(word), "\(said)", sourceLocation: sourceLocation) }
        }
    }

    /// The time of tests.
    static let now = Timestamp(secondsSince1970: 1_795_219_200)
}

extension Timestamp {
    /// So many seconds later.
    func later(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: self.secondsSince1970 + seconds) }
}
