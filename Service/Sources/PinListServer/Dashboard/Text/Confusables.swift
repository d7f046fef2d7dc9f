// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Letters that look like Latin ones and are not: `аpi.example.com` with a Cyrillic а.
enum Confusables {
    /// Letters of alphabets that share shapes with Latin: Greek, Cyrillic, Armenian, Cherokee, Latin in full width and
    /// the mathematical alphabets.
    private static let alphabets: [ClosedRange<UInt32>] = [
        0x0370...0x03ff, 0x0400...0x052f, 0x0530...0x058f, 0x13a0...0x13ff, 0x1c80...0x1c8f, 0x1f00...0x1fff,
        0x2de0...0x2dff, 0xa640...0xa69f, 0xab70...0xabbf, 0xff21...0xff5a, 0x1d400...0x1d7ff,
    ]

    /// Whether a text mixes such letters with those of ASCII: names that are honest seldom do.
    static func mixesAlphabets(_ text: String) -> Bool {
        var hasASCII = false
        var hasOther = false
        for scalar in text.unicodeScalars.prefix(VisibleText.foldedLength) {
            if scalar.isASCII {
                hasASCII = hasASCII || scalar.properties.isAlphabetic
            } else {
                hasOther = hasOther || Self.alphabets.contains { $0.contains(scalar.value) }
            }
            if hasASCII && hasOther { return true }
        }
        return false
    }
}
