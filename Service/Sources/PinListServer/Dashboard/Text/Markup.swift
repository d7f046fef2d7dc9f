// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// HTML that may be sent: the constants of this code, and text from outside that was escaped on its way in.
///
/// A literal is taken as it is, an interpolated string is escaped, interpolated markup is not escaped a second time.
/// Escaping is done here, scalar by scalar, and not by the template engine: that one replaces whole characters, and a
/// quotation mark that carries a combining accent is another character, which would leave an attribute. Invisible
/// characters are written as references, so that the page's source does not mislead its reader either; what HTML
/// forbids is replaced.
struct Markup: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The HTML.
    let html: String

    /// A constant of this code.
    init(stringLiteral literal: String) { self.html = literal }

    /// Constants with values between them.
    init(stringInterpolation: Interpolation) { self.html = stringInterpolation.html }

    /// Text from anywhere.
    init(escaping text: String) {
        var html = ""
        Self.escape(text, into: &html)
        self.html = html
    }

    /// Several after another.
    static func join(_ parts: [Markup], separator: Markup = "") -> Markup {
        var all: Markup = ""
        for (index, part) in parts.enumerated() {
            all = index == 0 ? part : "\(all)\(separator)\(part)"
        }
        return all
    }

    /// Literals and values, while they are put together.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        /// Begins.
        init(literalCapacity: Int, interpolationCount: Int) { self.html.reserveCapacity(literalCapacity) }

        /// A constant.
        mutating func appendLiteral(_ literal: String) { self.html += literal }

        /// Text, escaped.
        mutating func appendInterpolation(_ text: some StringProtocol) { Markup.escape(text, into: &self.html) }

        /// Markup, as it is.
        mutating func appendInterpolation(_ markup: Markup) { self.html += markup.html }

        /// A number.
        mutating func appendInterpolation(_ number: Int) { self.html += String(number) }

        /// A number.
        mutating func appendInterpolation(_ number: Int64) { self.html += String(number) }
    }

    private static func escape(_ text: some StringProtocol, into html: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "&": html += "&amp;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            case "\n", "\t", " "..."~": html.unicodeScalars.append(scalar)
            default:
                switch scalar.properties.generalCategory {
                case .format, .lineSeparator, .paragraphSeparator:
                    html += "&#x\(String(scalar.value, radix: 16));"
                case .control, .unassigned, .surrogate: html += "\u{fffd}"
                default: html.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

extension Markup {
    /// Wraps the output of a template that was filled with views, in which all text was escaped.
    init(rendered html: String) { self.html = html }
}
