// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Testing

@Suite("Points in time")
struct TimestampTests {
    /// Seconds from Python's `datetime` (for the year 0, which it has not, its 400-year cycle).
    @Test(
        "text and seconds since 1970, both ways",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("2000-02-29T12:34:56Z", 951_827_696),
            ("1900-02-28T23:59:59Z", -2_203_891_201), ("1900-03-01T00:00:00Z", -2_203_891_200),
            ("2100-02-28T23:59:59Z", 4_107_542_399), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2024-02-29T00:00:00Z", 1_709_164_800), ("2024-12-31T23:59:59Z", 1_735_689_599),
            ("2026-11-21T00:00:00Z", 1_795_219_200), ("2038-01-19T03:14:08Z", 2_147_483_648),
            ("2001-09-09T01:46:40Z", 1_000_000_000), ("1600-02-29T23:59:59Z", -11_670_912_001),
            ("2400-02-29T06:07:08Z", 13_574_585_228), ("1582-10-10T00:00:00Z", -12_219_724_800),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("0000-02-29T00:00:00Z", -62_162_121_600),
            ("0000-12-31T23:59:59Z", -62_135_596_801),
        ] as [(String, Int64)])
    func textAndSecondsSince1970BothWays(text: String, seconds: Int64) throws {
        #expect(try Timestamp(text).secondsSince1970 == seconds)
        #expect(Timestamp(secondsSince1970: seconds).description == text)
    }

    /// Seconds from Python's `calendar.timegm`.
    @Test(
        "times of certificates have one form for each type: digits and a Z",
        arguments: [
            (0x17, "491231235959Z", 2_524_607_999), (0x17, "500101000000Z", -631_152_000),
            (0x18, "20500101000000Z", 2_524_608_000), (0x18, "20240229123001Z", 1_709_209_801),
            (0x18, "99991231235959Z", 253_402_300_799), (0x18, "491231235959Z", nil), (0x17, "20500101000000Z", nil),
            (0x04, "491231235959Z", nil), (0x17, "4912312359Z", nil), (0x17, "491231235959z", nil),
            (0x17, "49123123595/Z", nil), (0x17, "49123123595:Z", nil), (0x17, "4912312359 0Z", nil),
            (0x18, "20230229000000Z", nil), (0x17, "491231235960Z", nil), (0x17, "", nil),
            (0x18, "20500101000000\u{00}", nil), (0x17, "4912312359+01", nil),
        ] as [(UInt8, String, Int64?)])
    func timesOfCertificatesHaveOneFormForEachType(tag: UInt8, text: String, seconds: Int64?) {
        // Beside the element stand bytes that are not its own.
        let bytes = Array("9\(text)9".utf8)
        let time = bytes.withUnsafeBytes { Timestamp(tag: tag, contents: 1..<$0.count - 1, in: $0.bytes) }
        #expect(time?.secondsSince1970 == seconds)
    }

    /// Python wrote the same lines, one for every 97th day from 0001-01-01 to 9999-12-31, and hashed them.
    @Test("every 97th day of ten thousand years, against the SHA-256 of what Python writes")
    func every97thDayOfTenThousandYearsAgainstTheSHA256OfWhatPythonWrites() throws {
        var hash = SHA256()
        var lines = 0
        for day in stride(from: Int64(1), through: 3_652_059, by: 97) {
            let time = Timestamp(secondsSince1970: (day - 719_163) * 86_400)
            #expect(try Timestamp(time.description) == time)
            hash.update(data: Array("\(time) \(time.secondsSince1970)\n".utf8))
            lines += 1
        }
        #expect(lines == 37_651)
        let digest = hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(digest == "9c3bff9e219392b03f687d62af32354c42eebdbf4929bf8e7e8cb1a28da3c040")
    }

    @Test("any second of these years comes back", arguments: [81] as [UInt64])
    func anySecondOfTheseYearsComesBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &random)
            let text = Timestamp(secondsSince1970: seconds).description
            #expect(text.utf8.count == 20)
            #expect(try Timestamp(text).secondsSince1970 == seconds)
        }
    }

    @Test(
        "days and hours that do not exist",
        arguments: [
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2024-02-30T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-06-31T00:00:00Z", "2026-09-31T00:00:00Z", "2026-11-31T00:00:00Z",
            "2026-01-32T00:00:00Z", "2026-00-10T00:00:00Z", "2026-13-10T00:00:00Z", "2026-10-00T00:00:00Z",
            "2026-10-10T24:00:00Z", "2026-10-10T00:60:00Z", "2026-12-31T23:59:60Z", "2026-10-10T99:99:99Z",
            "2026-99-99T00:00:00Z",
        ])
    func daysAndHoursThatDoNotExist(text: String) {
        #expect(throws: InputError(.timestamp, "")) { try Timestamp(text) }
    }

    @Test(
        "RFC 3339 in any other shape than UTC, whole seconds and Z",
        arguments: [
            "", "Z", "2026-11-21", "2026-11-21T00:00Z", "2026-11-21T00:00:00", "2026-11-21T00:00:00z",
            "2026-11-21t00:00:00Z", "2026-11-21 00:00:00Z", "2026-11-21T00:00:00.0Z", "2026-11-21T00:00:00,5Z",
            "2026-11-21T00:00:00+00:00", "2026-11-21T00:00:00-00:00", "2026-11-21T01:00:00+01:00",
            " 2026-11-21T00:00:00Z", "2026-11-21T00:00:00Z ", "2026-11-21T00:00:00Z\n", "2026-11-21T00:00:00ZZ",
            "20261121T000000Z", "2026-W47-6T00:00:00Z", "1795219200", "12026-11-21T00:00:00Z", "-026-11-21T00:00:00Z",
            "+026-11-21T00:00:00Z", "2026-1-021T00:00:00Z", "2026/11/21T00:00:00Z", "2026-11-21T00-00-00Z",
            "2026-11-21T+1:00:00Z", "2026-11-21T00:00:0xZ", "２026-11-21T00:00Z", "2026\u{2010}11-21T00:00Z",
            "2026-11-21T00:00:00Z\u{301}", "٢٠٢٦-11-21T00:00Z", "\u{feff}2026-11-21T00:00Z",
        ])
    func rfc3339InAnyOtherShapeThanUTCWholeSecondsAndZ(text: String) {
        #expect(throws: InputError(.timestamp, "")) { try Timestamp(text) }
    }

    @Test("a text of 16 MiB is refused without being copied")
    func textOf16MiBIsRefusedWithoutBeingCopied() {
        let zeros = String(repeating: "0", count: 4_096)
        let text = "2026-11-21T00:00:00Z" + String(repeating: zeros, count: 4_096)
        #expect(throws: InputError(.timestamp, "")) { try Timestamp(text) }
    }

    @Test("a second before the first year and after the last is written as those, and the ends of Int64 do not trap")
    func secondBeforeTheFirstYearAndAfterTheLastIsWrittenAsThose() {
        for seconds in [Int64.min, -62_167_219_201] {
            #expect(Timestamp(secondsSince1970: seconds).description == "0000-01-01T00:00:00Z")
        }
        for seconds in [Int64.max, 253_402_300_800] {
            #expect(Timestamp(secondsSince1970: seconds).description == "9999-12-31T23:59:59Z")
        }
    }

    @Test("earlier is less, as numbers and as texts", arguments: [82] as [UInt64])
    func earlierIsLessAsNumbersAndAsTexts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let times = (0..<2).map { _ in
                Timestamp(secondsSince1970: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))
            }
            #expect((times[0] < times[1]) == (times[0].description < times[1].description))
            #expect((times[0] < times[1]) == (times[0].secondsSince1970 < times[1].secondsSince1970))
        }
        #expect(!(Timestamp(secondsSince1970: 7) < Timestamp(secondsSince1970: 7)))
    }
}
