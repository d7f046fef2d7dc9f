// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

extension Timestamp {
    /// Reads a time of RFC 3339 in UTC, with `Z` and with or without a fraction of a second, which is cut off.
    ///
    /// - Throws: `InputError.Code.timestamp` for anything else.
    @_spi(Parsers) public init(roundingDownText text: String) throws(InputError) {
        let characters = Array(text.utf8.prefix(31))
        guard characters.count > 20, characters.count <= 30, characters[19] == UInt8(ascii: "."),
            characters.last == UInt8(ascii: "Z"), characters[20...].count > 1,
            characters[20...].dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            try self.init(text)
            return
        }
        try self.init(String(decoding: characters[..<19], as: UTF8.self) + "Z")
    }
}
#endif
