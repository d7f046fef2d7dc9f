// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// The bytes of a text of hexadecimal digits; `nil` for another text.
func hexBytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { UInt8(ascii: "0") <= $0 ? Character(UnicodeScalar($0)).hexDigitValue : nil }
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digits[index], let low = digits[index + 1] else { return nil }
        bytes.append(UInt8(high << 4 | low))
    }
    return bytes
}
#endif
