// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads a time of a certificate or a revocation list: UTCTime or GeneralizedTime in the one form that RFC 5280, section
    /// 4.1.2.5, has for each, `YYMMDDHHMMSSZ` and `YYYYMMDDHHMMSSZ`. `nil` for any other.
    ///
    /// - Parameters:
    ///   - tag: The identifier octet of the element.
    ///   - contents: The positions of its contents, within the bytes.
    ///   - bytes: The bytes.
    package init?(tag: UInt8, contents: Range<Int>, in bytes: RawSpan) {
        switch (tag, contents.count) {
        case (DERCursor.Tag.utcTime, 13), (DERCursor.Tag.generalizedTime, 15): break
        default: return nil
        }
        var position = contents.lowerBound
        var areDigits = true
        /// The number that the next two characters write.
        func next() -> Int {
            let tens = bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self) ^ UInt8(ascii: "0")
            let ones = bytes.unsafeLoad(fromByteOffset: position &+ 1, as: UInt8.self) ^ UInt8(ascii: "0")
            areDigits = areDigits && tens <= 9 && ones <= 9
            position &+= 2
            return Int(tens) * 10 + Int(ones)
        }
        let century = tag == DERCursor.Tag.generalizedTime ? next() : nil
        let ofCentury = next()
        // 50 to 99 are of the last century (section 4.1.2.5.1).
        let year = (century ?? (ofCentury >= 50 ? 19 : 20)) * 100 + ofCentury
        let (month, day, hour, minute, second) = (next(), next(), next(), next(), next())
        guard areDigits, bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self) == UInt8(ascii: "Z") else {
            return nil
        }
        self.init(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }
}
