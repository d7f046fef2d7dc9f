// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The bytes of a field `Host`.
enum HostByte {
    /// Whether a byte may stand in a `Host` that is answered: those of names, addresses and ports (RFC 3986, section 3.2).
    static func mayStandInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}
