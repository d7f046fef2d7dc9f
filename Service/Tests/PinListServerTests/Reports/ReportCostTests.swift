// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("The cost of a body")
struct ReportCostTests {
    private func cost(_ body: [UInt8]) throws -> Int {
        ReportCost.all(of: try CollectedReport.read(body, at: ReportText.now), bytes: body.count)
    }

    private func incident(_ envelope: String) -> [UInt8] {
        let base64 = Base64.encode(Array(envelope.utf8))
        return Array("{\"tumbler\":{\"reason\":\"equivocation\",\"list-name\":\"a\",\"envelope\":\"\(base64)\"}}".utf8)
    }

    /// An envelope with so many invented signatures of 64 bytes.
    private func envelope(payload: Int, signatures: Int) -> String {
        let text = Base64.encode([UInt8](repeating: 0x20, count: payload))
        let signature = Base64.encode([UInt8](repeating: 1, count: 64))
        let all = (0..<signatures).map { _ in
            "{\"keyid\":\"\(String(repeating: "a", count: 64))\",\"sig\":\"\(signature)\"}"
        }
        return "{\"payloadType\":\"application/vnd.tumbler.pins+json\",\"payload\":\"\(text)\",\"signatures\":["
            + all.joined(separator: ",") + "]}"
    }

    @Test("a usual report costs a token, an array one for each report, and entries about something else nothing more")
    func usualReportCostsATokenAnArrayOneForEachReport() throws {
        #expect(try self.cost(ReportText.body()) == 1)
        let entry = "{\"type\":\"x\",\"body\":{\"hostname\":\"a.test\",\"known-pins\":[]}}"
        let other = "{\"type\":\"csp-violation\",\"body\":{}}"
        let array = Array(("[" + Array(repeating: entry, count: 128).joined(separator: ",") + "]").utf8)
        #expect(try self.cost(array) == 128)
        #expect(try self.cost(Array("[\(entry),\(other),\(entry)]".utf8)) == 2)
        #expect(try self.cost(Array("[\(other)]".utf8)) == 1)
        #expect(try self.cost(Array("[]".utf8)) == 1)
    }

    @Test("half a megabyte costs as much as it takes to read, with any content")
    func halfAMegabyteCostsAsMuchAsItTakesToReadWithAnyContent() throws {
        #expect(ReportCost.reading(0) == 1)
        #expect(ReportCost.reading(32_768) == 1)
        #expect(ReportCost.reading(32_769) == 2)
        #expect(ReportCost.reading(524_288) == 16)
        #expect(ReportCost.reading(6_291_456) == 192)
        let padded = Array("{\"hostname\":\"a.test\"}".utf8) + [UInt8](repeating: 0x20, count: 100_000)
        #expect(try self.cost(padded) == 4)
    }

    @Test("32 invented signatures over a large list cost what it takes to check them")
    func of32InventedSignaturesOverALargeListCostWhatItTakesToCheckThem() throws {
        #expect(try self.cost(self.incident("{}")) == 1)
        #expect(try self.cost(self.incident(self.envelope(payload: 1_000, signatures: 2))) == 2)
        #expect(try self.cost(self.incident(self.envelope(payload: 1_000, signatures: 32))) == 32)
        let large = self.incident(self.envelope(payload: 2_000_000, signatures: 32))
        #expect(try self.cost(large) == 32 * 41)
    }
}
