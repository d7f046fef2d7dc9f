// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One element of DER: what stands where (X.690, section 8.1). For what is shown to people; pins are the core's.
///
/// Positions are checked against what holds them before a byte is read: no input traps.
struct DERElement {
    /// The identifier octet.
    let tag: UInt8
    /// The range of its contents.
    let contents: Range<Int>

    /// Steps over the next element; `nil` at the end, and for what is no element.
    ///
    /// - Parameters:
    ///   - position: The position at which it begins; moved behind it.
    ///   - end: The end of what holds it; at most the number of bytes.
    ///   - bytes: All bytes.
    init?(at position: inout Int, before end: Int, in bytes: [UInt8]) {
        guard position >= 0, end <= bytes.count, position <= end - 2, bytes[position] & 0x1f != 0x1f else { return nil }
        var start = position + 2
        var length = Int(bytes[position + 1])
        if length >= 0x80 {
            // A certificate has at most 65,536 bytes.
            let count = length & 0x7f
            guard (1...3).contains(count), count <= end - start else { return nil }
            length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard length <= end - start else { return nil }
        self.tag = bytes[position]
        self.contents = start..<(start + length)
        position = start + length
    }

    /// The elements within this one, as many as asked for; those before the first that is none.
    func elements(in bytes: [UInt8], maximum: Int) -> [DERElement] {
        var elements: [DERElement] = []
        var position = self.contents.lowerBound
        while elements.count < maximum,
            let element = DERElement(at: &position, before: self.contents.upperBound, in: bytes)
        {
            elements.append(element)
        }
        return elements
    }

    /// A UTCTime or a GeneralizedTime as RFC 5280, section 4.1.2.5, writes them: whole seconds, `Z`.
    func time(in bytes: [UInt8]) -> String? {
        let utcTime: UInt8 = 0x17
        let generalizedTime: UInt8 = 0x18
        var text = String(decoding: bytes[self.contents], as: UTF8.self)
        if self.tag == utcTime {
            guard let year = Int(text.prefix(2)) else { return nil }
            text = (year < 50 ? "20" : "19") + text
        } else if self.tag != generalizedTime {
            return nil
        }
        let characters = Array(text)
        guard characters.count == 15 else { return nil }
        func part(_ range: Range<Int>) -> String { String(characters[range]) }
        let date = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
        return "\(date)T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))\(part(14..<15))"
    }
}
