// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// JSON whose numbers are whole, from JSON that has others: the strict reader of metadata takes no fraction.
///
/// A browser writes `"sampling_fraction": 0.5`, and some serialisers `443.0`. No member that is read here needs more
/// than the whole part. A number with an exponent or beyond 18 digits becomes `null`, as if the member were absent.
package enum WholeNumbers {
    /// The most digits that surely fit into 64 bits.
    private static let mostDigits = 18

    /// Rewrites the numbers outside of strings. Linear, never longer than what it is given by more than 3 bytes a
    /// number that is cut, and what is no JSON stays none.
    package static func only(in bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        var isInString = false
        while position < bytes.count {
            let byte = bytes[position]
            if isInString {
                output.append(byte)
                position += 1
                if byte == UInt8(ascii: "\\"), position < bytes.count {
                    output.append(bytes[position])
                    position += 1
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            if byte == UInt8(ascii: "-") || Self.isDigit(byte) {
                let number = Self.number(in: bytes, at: position)
                output += number.text
                position = number.end
                continue
            }
            isInString = byte == UInt8(ascii: "\"")
            output.append(byte)
            position += 1
        }
        return output
    }

    /// RFC 8259, section 6. What does not follow it is given back as it stands, for the reader to refuse.
    private static func number(in bytes: [UInt8], at start: Int) -> (text: [UInt8], end: Int) {
        func digits(from position: Int) -> Int {
            var end = position
            while end < bytes.count, Self.isDigit(bytes[end]) { end += 1 }
            return end
        }
        func isAt(_ position: Int, _ characters: [UInt8]) -> Bool {
            position < bytes.count && characters.contains(bytes[position])
        }
        let wholeStart = isAt(start, [UInt8(ascii: "-")]) ? start + 1 : start
        let wholeEnd = digits(from: wholeStart)
        var end = wholeEnd
        var isLost = wholeEnd - wholeStart > Self.mostDigits
        // A leading zero is no number, and must not become one.
        let isWellFormed = wholeEnd == wholeStart + 1 || !isAt(wholeStart, [UInt8(ascii: "0")])
        guard wholeEnd > wholeStart, isWellFormed else {
            return (Array(bytes[start..<max(wholeEnd, start + 1)]), max(wholeEnd, start + 1))
        }
        if isAt(end, [UInt8(ascii: ".")]) {
            let fractionEnd = digits(from: end + 1)
            guard fractionEnd > end + 1 else { return (Array(bytes[start..<fractionEnd]), fractionEnd) }
            end = fractionEnd
        }
        if isAt(end, [UInt8(ascii: "e"), UInt8(ascii: "E")]) {
            let signEnd = isAt(end + 1, [UInt8(ascii: "+"), UInt8(ascii: "-")]) ? end + 2 : end + 1
            let exponentEnd = digits(from: signEnd)
            guard exponentEnd > signEnd else { return (Array(bytes[start..<exponentEnd]), exponentEnd) }
            end = exponentEnd
            isLost = true
        }
        return (isLost ? Array("null".utf8) : Array(bytes[start..<wholeEnd]), end)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
