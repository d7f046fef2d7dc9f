// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer

@Suite("Times in fields of HTTP")
struct HTTPDateTests {
    /// As Python's `email.utils.formatdate(…, usegmt=True)` writes them.
    @Test(
        "are written as another implementation writes them",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_795_219_200, "Sat, 21 Nov 2026 00:00:00 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (-86_401, "Tue, 30 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func areWrittenAsAnotherImplementationWritesThem(_ seconds: Int64, _ text: String) {
        #expect(HTTPDate.text(of: Timestamp(secondsSince1970: seconds)) == text)
    }
}
