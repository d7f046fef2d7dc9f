// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer

@Suite("Text from outside")
struct MarkupTests {
    @Test(
        "cannot leave an attribute or open an element, also where the character that would carries an accent",
        arguments: [
            ("<script>", "&lt;script&gt;"), ("\"\u{301} onfocus=x", "&quot;\u{301} onfocus=x"),
            ("<\u{301}b>", "&lt;\u{301}b&gt;"), ("&lt;", "&amp;lt;"), ("'", "&#39;"), ("\u{600}\"", "&#x600;&quot;"),
            ("a\u{0}b\u{1b}", "a\u{fffd}b\u{fffd}"), ("\u{202e}x", "&#x202e;x"), ("größe", "größe"),
        ])
    func cannotLeaveAnAttributeOrOpenAnElement(text: String, html: String) {
        let markup: Markup = "<a title=\"\(text)\">"
        #expect(Markup(escaping: text).html.unicodeScalars.elementsEqual(html.unicodeScalars))
        #expect(markup.html.unicodeScalars.elementsEqual("<a title=\"\(html)\">".unicodeScalars))
    }

    @Test("that would turn or hide a line is named instead of being done")
    func thatWouldTurnOrHideALineIsNamedInsteadOfBeingDone() {
        #expect(
            VisibleText.line("\u{202e}gpj.exe").html
                == "<bdi><span class=\"cp\">U+202E</span>gpj.<wbr>exe</bdi>")
        #expect(VisibleText.plain("a\u{200b}b\u{3164}\u{2800}\u{a0}") == "a[U+200B]b[U+3164][U+2800][U+00A0]")
        #expect(VisibleText.plain("\u{0}\u{7f}\u{e0041}\u{10ffff}") == "[U+0000][U+007F][U+E0041][U+10FFFF]")
        #expect(VisibleText.block("a\n\tb\r").html == "<bdi>a\n\tb<span class=\"cp\">U+000D</span></bdi>")
    }

    @Test("that piles marks over a letter is cut, and a mark without a letter is counted")
    func thatPilesMarksOverALetterIsCutAndAMarkWithoutALetterIsCounted() {
        let pile = "x" + String(repeating: "\u{300}", count: 50) + "y"
        #expect(VisibleText.plain(pile) == "x\u{300}\u{300}\u{300}[+47 marks]y")
        #expect(VisibleText.plain("\u{301}a") == "[+1 marks]a")
        #expect(VisibleText.plain("\"\u{301}") == "\"[+1 marks]")
        #expect(VisibleText.plain("e\u{301}") == "e\u{301}")
    }

    @Test("that is long moves into a fold, and what is beyond all measure is counted and not sent")
    func thatIsLongMovesIntoAFoldAndWhatIsBeyondAllMeasureIsCountedAndNotSent() {
        #expect(!VisibleText.folded(String(repeating: "a", count: VisibleText.lineLength)).html.contains("<details"))
        let long = VisibleText.folded(String(repeating: "a", count: 100_000)).html
        #expect(long.contains("<details"))
        #expect(long.contains("cut here: 98976 more"))
        #expect(long.utf8.count < VisibleText.foldedLength + 500)
        let turned = VisibleText.folded(String(repeating: "\u{202e}", count: 100_000)).html
        #expect(turned.components(separatedBy: "U+202E").count == 2 * VisibleText.maximumNamed + 1)
    }

    @Test("that mixes alphabets is marked; names in one alphabet are not")
    func thatMixesAlphabetsIsMarkedNamesInOneAlphabetAreNot() {
        #expect(Confusables.mixesAlphabets("\u{430}pi.example.com"))
        #expect(Confusables.mixesAlphabets("ex\u{ff41}mple"))
        #expect(!Confusables.mixesAlphabets("api.example.com"))
        #expect(!Confusables.mixesAlphabets("пример.испытание"))
        #expect(!Confusables.mixesAlphabets("Zürich"))
    }

    @Test("is percent-encoded in addresses, and cut")
    func isPercentEncodedInAddressesAndCut() {
        #expect(
            DashboardLink.to("/failures", [("host", "a&b=\"c\" ü"), ("x", "")])
                == "/failures?host=a%26b%3D%22c%22%20%C3%BC")
        #expect(DashboardLink.to("/", [("host", String(repeating: "a", count: 9_999))]).count < 300)
    }
}
