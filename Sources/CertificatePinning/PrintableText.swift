// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Text from outside as a part of one line for people.
///
/// Hosts, subjects and notes come from those who run a server or write a list, and end up on a terminal, in a log or in
/// a ticket. Characters that move a cursor, turn the direction of text, break a line or are invisible are written as
/// `?`.
public enum PrintableText {
    /// The default maximum length in Unicode scalars, because a character has no maximum size.
    public static let maximumLength = 512

    /// Returns a text with visible characters alone, cut and marked with `…` where it is longer than allowed.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - maximumLength: The maximum length of the result in Unicode scalars.
    public static func line(_ text: String, maximumLength: Int = Self.maximumLength) -> String {
        // All that almost every text consists of; each of these bytes is a scalar.
        if text.utf8.count <= maximumLength, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        var line = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.prefix(maximumLength + 1).enumerated() {
            guard index < maximumLength else {
                if !line.isEmpty {
                    line.removeLast()
                    line.append("…")
                }
                break
            }
            line.append(self.canBeSeen(scalar) ? scalar : "?")
        }
        return String(line)
    }

    private static func canBeSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
