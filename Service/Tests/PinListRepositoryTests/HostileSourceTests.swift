// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListRepository
import Testing

@Suite("A source that is made to harm its reader")
struct HostileSourceTests {
    @Test("a few lines of aliases that unfold to gigabytes are refused at the first anchor")
    func fewLinesOfAliasesThatUnfoldToGigabytesAreRefusedAtTheFirstAnchor() {
        let levels = (1...30).map { "l\($0): &l\($0) [*l\($0 - 1), *l\($0 - 1)]" }
        let bomb = "name: a\nl0: &l0 x\n" + levels.joined(separator: "\n")
        SourceText.expectRefusal(bomb, at: "tumbler.yaml:2:5", "anchor")
        SourceText.expectRefusal("name: a\n? *a\n: *a", at: "tumbler.yaml:2:3", "alias")
        SourceText.expectRefusal("name: !!str &a b\ndenied: [*a]", at: "tumbler.yaml:1:7", "tag")
        SourceText.expectRefusal("name: &a\n  b: c", at: "tumbler.yaml:2:4", "anchors")
        SourceText.expectRefusal("name: *a", at: "tumbler.yaml:1:7", "alias", "quotation marks")
        SourceText.expectRefusal("name: a\n<<: *a", at: "tumbler.yaml:2:5", "alias")
    }

    @Test("tags, documents, members twice")
    func tagsDocumentsMembersTwice() {
        SourceText.expectRefusal("name: !!binary aGFsbG8=", at: "tumbler.yaml:1:7", "tag")
        SourceText.expectRefusal("name: !ruby/object a", at: "tumbler.yaml:1:7", "tag")
        SourceText.expectRefusal("name: !!timestamp &a 2026", at: "tumbler.yaml:1:7", "tag")
        SourceText.expectRefusal("name: a\n---\nname: b", at: "tumbler.yaml:2:1", "second document")
        SourceText.expectRefusal("name: a\nname: b", at: "tumbler.yaml:1:1", "twice")
        SourceText.expectRefusal("name: a\n\"name\": b", at: "tumbler.yaml:1:1", "twice")
        SourceText.expectRefusal("name: a\n[x]: b", at: "tumbler.yaml:2:1", "a list")
        SourceText.expectRefusal("name: a\ndomains:\n\t- a", at: "tumbler.yaml:3:1", "tab", "blanks")
        SourceText.expectRefusal("name: \"a", at: "tumbler.yaml:1:7", "quotation marks")
    }

    @Test(
        "what cannot be seen",
        arguments: ["\u{2028}", "\u{85}", "\u{202E}", "\u{200E}", "\u{FEFF}", "\u{0}", "\r", "\u{1B}"])
    func whatCannotBeSeen(character: String) {
        SourceText.expectRefusal("name: a\n# harmless\(character)name: b\n", at: "tumbler.yaml:2:11", "U+")
    }

    @Test("depth that a stack does not have is refused, on a thread with a small one as well")
    func depthThatAStackDoesNotHaveIsRefusedOnAThreadWithASmallOneAsWell() async {
        for text in [
            "name: a\ndenied: " + String(repeating: "[", count: 990) + String(repeating: "]", count: 990),
            "name: a\ndenied:\n" + String(repeating: "- ", count: 990) + "x", String(repeating: "[", count: 100_000),
            String(repeating: "{a: ", count: 990) + String(repeating: "}", count: 990),
        ] {
            let isRefused = await withCheckedContinuation { continuation in
                let thread = Thread { continuation.resume(returning: (try? SourceText.read(text)) == nil) }
                thread.stackSize = 256 << 10
                thread.start()
            }
            #expect(isRefused)
        }
    }

    @Test("too many bytes are refused before they are parsed")
    func tooManyBytesAreRefusedBeforeTheyAreParsed() {
        let text = "name: a\n" + String(repeating: "#", count: ListSource.maximumLength)
        #expect(throws: RepositoryError.self) { try SourceText.read(text) }
        do { _ = try SourceText.read(text) } catch { #expect(error.reason.contains("4 MiB")) }
    }

    @Test("bytes that are not UTF-8 are named by their line")
    func bytesThatAreNotUTF8AreNamedByTheirLine() {
        let bytes = Array("name: a\n# ".utf8) + [0xC3, 0x28]
        do {
            _ = try ListSource(bytes, file: "tumbler.yaml", files: FilesInMemory())
            Issue.record("read")
        } catch { #expect(error.reason == "tumbler.yaml:2: not UTF-8") }
    }

    @Test("four thousand changed sources: an error or a source, never a crash; and a source is a list or an error")
    func fourThousandChangedSourcesAnErrorOrASourceNeverACrash() throws {
        var generator = SeededGenerator(seed: 4_711)
        let seed = Array(
            SourceText.good(
                "denied: [\"\(SourceText.pin("c"))\"]\nsuspended:\n  - {domain: \"*\", until: 2026-11-22T12:00:00Z, reason: 'x'}"
            ).utf8)
        let pieces = [
            "&a ", "*a", "!!str ", "- ", "? ", ": ", "{", "}", "[", "]", "\"", "'", "|\n", ">-\n", "#", "\n", "  ",
        ]
        var readCount = 0
        for _ in 0..<4_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: Array((pieces.randomElement(using: &generator) ?? "").utf8), at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 12))
                }
            }
            guard let source = try? ListSource(bytes, file: "tumbler.yaml", files: FilesInMemory()) else { continue }
            readCount += 1
            #expect(!String(decoding: bytes, as: UTF8.self).contains(": &a"))
            _ = try? PinListBuilt.list(source)
        }
        #expect(readCount > 100)
    }
}
