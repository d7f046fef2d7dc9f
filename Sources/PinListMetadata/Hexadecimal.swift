// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Lower-case hexadecimal, as key ids and digests are written.
public enum Hexadecimal {
    /// Two characters for each byte.
    public static func text(of bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
