// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Printable text")
struct PrintableTextTests {
    @Test(
        "what can be seen stays, in every script",
        arguments: [
            "", "api.example.com", "München", "例え.jp", "a\u{301}", "١٢٣", "\u{a0}", "😀", "<script>", "a\u{3000}b",
        ])
    func whatCanBeSeenStaysInEveryScript(text: String) {
        #expect(PrintableText.line(text) == text)
    }

    @Test("of all Unicode scalars, none that moves, turns, breaks or hides comes through")
    func ofAllUnicodeScalarsNoneThatMovesTurnsBreaksOrHidesComesThrough() {
        // A line break, NEL, both separators, zero width, marks of direction, tags, a byte order mark.
        let hidden: [Unicode.Scalar] = [
            "\n", "\r", "\0", "\t", "\u{1b}", "\u{7f}", "\u{85}", "\u{9b}", "\u{ad}", "\u{61c}", "\u{180e}", "\u{200b}",
            "\u{200e}", "\u{202e}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{feff}", "\u{e0041}", "\u{e000}",
            "\u{10ffff}",
        ]
        for scalar in hidden { #expect(PrintableText.line("a\(scalar)b") == "a?b") }
        var kept = 0
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = PrintableText.line(String(scalar))
            guard line != "?" else { continue }
            kept += 1
            if line != String(scalar) || scalar.properties.isDefaultIgnorableCodePoint && self.isFormat(scalar) {
                Issue.record("U+\(String(value, radix: 16)) became \(line)")
            }
        }
        // Unicode has assigned some 150,000 characters that can be seen.
        #expect(kept > 140_000)
    }

    private func isFormat(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    @Test("the length is counted in scalars, the mark of a cut included", arguments: [1, 2, 5, 512])
    func lengthIsCountedInScalarsTheMarkOfACutIncluded(length: Int) {
        let whole = String(repeating: "x", count: length)
        #expect(PrintableText.line(whole, maximumLength: length) == whole)
        #expect(PrintableText.line(whole + "x", maximumLength: length) == whole.dropLast() + "…")
        let marks = "x" + String(repeating: "\u{301}", count: 100_000)
        #expect(PrintableText.line(marks, maximumLength: length).unicodeScalars.count == length)
        #expect(PrintableText.line(marks).unicodeScalars.count == PrintableText.maximumLength)
    }

    @Test("a text for which there is no room at all is empty, and no trap")
    func textForWhichThereIsNoRoomAtAllIsEmptyAndNoTrap() async {
        await #expect(processExitsWith: .success) {
            #expect(PrintableText.line("a", maximumLength: 0) == "")
        }
    }
}
