// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The text of a YAML file, after the checks that need no parser: size, encoding, and what cannot be seen.
struct YAMLText: Sendable {
    /// The maximum number of bytes of one file: as many as the envelope of the largest list may have.
    static let maximumLength = 4 << 20

    /// The file, as it was named.
    let file: String

    /// The scalars, without a byte order mark at the beginning.
    let scalars: [Unicode.Scalar]

    /// The index in ``scalars`` at which each line begins.
    private let lineStarts: [Int]

    /// Checks some bytes.
    ///
    /// - Throws: ``RepositoryError`` with the place.
    init(_ bytes: [UInt8], file: String) throws(RepositoryError) {
        self.file = file
        guard bytes.count <= Self.maximumLength else {
            throw RepositoryError(
                .source, "\(file): over \(Self.maximumLength >> 20) MiB, which is more than is read",
                hint: "spread the domains over files, and name these under include:")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let repaired = String(decoding: bytes, as: UTF8.self).utf8
            let offset = zip(bytes, repaired).prefix { $0 == $1 }.count
            let line = bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
            throw RepositoryError(.source, "\(file):\(line): not UTF-8", hint: "save the file as UTF-8")
        }
        var scalars = Array(text.unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        self.scalars = scalars
        self.lineStarts = [0] + Self.places(in: scalars) { $0 == 0x0A }.map { $0 + 1 }
        for index in Self.places(in: scalars, where: { $0 == 0x0D || Self.isForbidden($0) }) {
            let isReturnOfALineBreak = scalars[index] == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n"
            guard !isReturnOfALineBreak else { continue }
            let digits = String(scalars[index].value, radix: 16, uppercase: true)
            let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            throw self.position(at: index).error(
                "the character \(code), which is not seen or which programs read differently",
                hint: "remove it; within double quotation marks it may be written as an escape")
        }
    }

    /// Line separators that YAML and editors disagree on, controls, and what turns the direction of text: what is read
    /// must be what is seen.
    private static func isForbidden(_ scalar: UInt32) -> Bool {
        // Most of a file, and the quickest to tell.
        if scalar >= 0x20, scalar < 0x7F { return false }
        return switch scalar {
        case 0x09, 0x0A, 0x0D: false
        case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFE...0xFFFF: true
        default: false
        }
    }

    /// The places of some scalars, by their values.
    ///
    /// A loop over a buffer: a file may have millions of scalars, and it is read without an optimiser, too.
    private static func places(in scalars: [Unicode.Scalar], where isWanted: (UInt32) -> Bool) -> [Int] {
        scalars.withUnsafeBufferPointer { scalars in
            var places: [Int] = []
            var index = 0
            while index < scalars.count {
                if isWanted(scalars[index].value) { places.append(index) }
                index += 1
            }
            return places
        }
    }

    /// The text.
    var text: String { Self.string(self.scalars) }

    /// The text with an `x` in each place of an anchor's or an alias' sign, and where these are.
    var withoutAnchors: (text: String, places: Set<Int>) {
        var scalars = self.scalars
        let places = Self.places(in: scalars) { $0 == 0x26 || $0 == 0x2A }  // & and *
        for place in places { scalars[place] = "x" }
        return (Self.string(scalars), Set(places))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        // The parser keeps a pointer to the text, and a short one has no fixed address.
        while view.count < 16 { view.append("\n") }
        return String(view)
    }

    /// The number of lines, an empty last one included.
    var lineCount: Int { self.lineStarts.count }

    /// The index of a place in ``scalars``; their count for one that is outside.
    ///
    /// - Parameters:
    ///   - line: From 1.
    ///   - column: From 1.
    func index(line: Int, column: Int) -> Int {
        guard self.lineStarts.indices.contains(line - 1), column > 0 else { return self.scalars.count }
        return min(self.lineStarts[line - 1] + column - 1, self.scalars.count)
    }

    /// The place of an index in ``scalars``.
    func position(at index: Int) -> SourcePosition {
        var low = 0
        var high = self.lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.lineStarts[middle] <= index { low = middle } else { high = middle }
        }
        return SourcePosition(file: self.file, line: low + 1, column: index - self.lineStarts[low] + 1)
    }

    /// A line without its end, from 1; empty where there is none.
    func line(_ number: Int) -> [Unicode.Scalar] {
        guard self.lineStarts.indices.contains(number - 1) else { return [] }
        let start = self.lineStarts[number - 1]
        return Array(self.scalars[start...].prefix { $0 != "\n" && $0 != "\r" })
    }
}
