// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@_spi(Tools) @testable import CertificatePinning

@Suite("Bytes of unknown length")
struct BoundedBytesTests {
    /// A source that has so many bytes, and gives at most so many at once.
    private func source(_ count: Int, atOnce most: Int = .max) -> (Int) -> [UInt8]? {
        var left = count
        return { asked in
            let given = min(left, asked, most)
            left -= given
            return given == 0 ? nil : [UInt8](repeating: 7, count: given)
        }
    }

    @Test("are read whole up to the maximum, in however small parts they come", arguments: [1, 3, 5, 4_000_000])
    func areReadWholeUpToTheMaximumInHoweverSmallPartsTheyCome(atOnce: Int) {
        for count in [0, 1, 4, 5] {
            #expect(BoundedBytes.read(upTo: 5, self.source(count, atOnce: atOnce)).count == count)
        }
        #expect(BoundedBytes.read(upTo: .max, self.source(20, atOnce: atOnce)).count == 20)
    }

    @Test("that never end are cut off one byte beyond the maximum, and not asked for more")
    func thatNeverEndAreCutOffOneByteBeyondTheMaximumAndNotAskedForMore() {
        for maximum in [0, 5, 3_000_000] {
            var given = 0
            let bytes = BoundedBytes.read(upTo: maximum) { asked in
                given += asked
                return [UInt8](repeating: 7, count: asked)
            }
            #expect(bytes.count == maximum + 1)
            #expect(given == maximum + 1)
        }
    }

    @Test("whose source fails are not given in part")
    func whoseSourceFailsAreNotGivenInPart() {
        struct Failure: Error {}
        var parts = 0
        #expect(throws: Failure.self) {
            try BoundedBytes.read(upTo: 10) { _ -> [UInt8]? in
                parts += 1
                if parts == 2 { throw Failure() }
                return [7]
            }
        }
    }
}
