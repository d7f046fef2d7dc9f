// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The fields of a form, `application/x-www-form-urlencoded` (URL standard, section 5.1), as a browser sends it. What is
/// no valid escape stands for itself, as the standard says: a stranger's bytes never fail to be read.
struct FormBody: Hashable, Sendable {
    /// The first value of each field.
    let fields: [String: String]

    /// Reads a body, whose size the caller has bounded.
    init(_ body: [UInt8]) {
        var fields: [String: String] = [:]
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decoded(parts.first ?? [])
            guard fields[name] == nil else { continue }
            fields[name] = Self.decoded(parts.count == 2 ? parts[1] : [])
        }
        self.fields = fields
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                if digits.count == 2 {
                    decoded.append(UInt8(digits[0] * 16 + digits[1]))
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default: decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
