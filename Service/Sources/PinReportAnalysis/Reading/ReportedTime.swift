// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A time as reports write it: RFC 3339, with a fraction of a second and an offset from UTC where a sender has them.
///
/// TrustKit and our own clients write whole seconds and `Z`; RFC 7469, section 3, says RFC 3339.
enum ReportedTime {
    /// The length of `2026-11-21T00:00:00`.
    private static let secondsLength = 19
    /// The maximum number of bytes: nine digits of a fraction, and an offset.
    private static let maximumBytes = 35
    /// Noon of the first and of the last day that a ``Timestamp`` is written for, so that every offset stays within.
    private static let bounds =
        Timestamp(secondsSince1970: -62_167_176_000)...Timestamp(secondsSince1970: 253_402_257_600)

    /// Reads a time; `nil` for anything else. A wrong clock is worth knowing about, a wrong format is not.
    static func read(_ text: String) -> Timestamp? {
        var bytes = Array(text.utf8.prefix(self.maximumBytes + 1))[...]
        guard bytes.count > self.secondsLength, bytes.count <= self.maximumBytes else { return nil }
        guard let local = try? Timestamp(String(decoding: bytes.prefix(self.secondsLength), as: UTF8.self) + "Z") else {
            return nil
        }
        bytes = bytes.dropFirst(self.secondsLength)
        if bytes.first == UInt8(ascii: ".") {
            let fraction = bytes.dropFirst().prefix { self.digit($0) != nil }
            guard !fraction.isEmpty else { return nil }
            bytes = bytes[fraction.endIndex...]
        }
        guard let offset = self.offset(Array(bytes)) else { return nil }
        return self.within(local.secondsSince1970 - offset)
    }

    /// A time so many seconds after 1970, where it can be written; `nil` beyond.
    static func within(_ seconds: Int64) -> Timestamp? {
        let time = Timestamp(secondsSince1970: seconds)
        return self.bounds.contains(time) ? time : nil
    }

    /// The seconds that a local time is ahead of UTC.
    private static func offset(_ bytes: [UInt8]) -> Int64? {
        if bytes == [UInt8(ascii: "Z")] { return 0 }
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"),
            let sign: Int64 = bytes[0] == UInt8(ascii: "+") ? 1 : bytes[0] == UInt8(ascii: "-") ? -1 : nil,
            let hourTens = self.digit(bytes[1]), let hourOnes = self.digit(bytes[2]),
            let minuteTens = self.digit(bytes[4]), let minuteOnes = self.digit(bytes[5])
        else { return nil }
        let hours = hourTens * 10 + hourOnes
        let minutes = minuteTens * 10 + minuteOnes
        return hours < 24 && minutes < 60 ? sign * (hours * 3_600 + minutes * 60) : nil
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
    }
}
