// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient
import Testing

@Suite("Retry-After")
struct RetryAfterTests {
    private static let now = TestClient.start  // 2026-11-21T00:00:00Z, a Saturday

    @Test(
        "text that is neither digits nor a date is as if there were none",
        arguments: [
            "", " ", "nan", "-nan", "inf", "-inf", "-1e300", "1e300", "1e3", "0x10", "+5", "-5", "1.5", "5 ", " 5",
            "5;6",
            "five", "\u{0665}", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 30 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov--4 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov  06 08:49:37 1994", "1994-11-06T08:49:37Z",
            String(repeating: "Sun, ", count: 10_000),
        ])
    func textThatIsNeitherDigitsNorADateIsAsIfThereWereNone(field: String) {
        #expect(RetryAfter(field) == nil)
    }

    @Test(
        "digits are seconds; over a day is a day, however many digits there are",
        arguments: [
            ("0", 0), ("1", 1), ("0017", 17), ("86400", 86_400), ("86401", 86_400), ("9223372036854775808", 86_400),
            (String(repeating: "9", count: 10_000), 86_400),
        ] as [(String, Int64)])
    func digitsAreSecondsOverADayIsADayHoweverManyDigitsThereAre(field: String, seconds: Int64) {
        #expect(RetryAfter(field)?.seconds(at: Self.now) == seconds)
    }

    @Test(
        "a date in each of HTTP's three forms is read; a past one is 0, one over a day ahead is a day",
        arguments: [
            // RFC 9110, section 5.6.7
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
            ("Sun Nov  6 08:49:37 1994", 0),
            ("Sat, 21 Nov 2026 00:10:00 GMT", 600), ("Saturday, 21-Nov-26 00:10:00 GMT", 600),
            ("Sat Nov 21 00:10:00 2026", 600), ("Sat, 21 Nov 2026 00:00:60 GMT", 59),
            ("Sun, 22 Nov 2026 00:00:00 GMT", 86_400), ("Mon, 23 Nov 2026 00:00:00 GMT", 86_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
            // Two digits of a year mean none that is over 50 years ahead.
            ("Saturday, 21-Nov-75 00:10:00 GMT", 86_400), ("Saturday, 21-Nov-77 00:10:00 GMT", 0),
        ] as [(String, Int64)])
    func dateInEachOfHTTPsThreeFormsIsReadAPastOneIs0OneOverADayAheadIsADay(field: String, seconds: Int64) {
        #expect(RetryAfter(field)?.seconds(at: Self.now) == seconds)
    }

    @Test("no clock ends the process", arguments: [Int64.min, -1, 0, .max])
    func noClockEndsTheProcess(seconds: Int64) throws {
        let now = Timestamp(secondsSince1970: seconds)
        for field in ["Fri, 31 Dec 9999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "5"] {
            let wait = try #require(RetryAfter(field)).seconds(at: now)
            #expect((0...RetryAfter.maximum).contains(wait))
        }
    }

    @Test("a value from an app's own fetcher has the same limits", arguments: [Int64.min, -1, 86_401, .max])
    func valueFromAnAppsOwnFetcherHasTheSameLimits(seconds: Int64) {
        #expect(RetryAfter(seconds: seconds).seconds(at: Self.now) == (seconds < 0 ? 0 : 86_400))
    }
}
