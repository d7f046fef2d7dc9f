// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListStore

@Suite("The audit log")
struct AuditChainTests {
    private func log(_ count: Int64) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        for number in 1...count {
            entries.append(
                AuditEntry(
                    number: number, time: Timestamp(secondsSince1970: 1_795_219_200 + number), actor: "cli",
                    action: "publish", detail: "version \(number)",
                    previous: entries.last?.digest ?? AuditEntry.origin))
        }
        return entries
    }

    private func check(_ entries: [AuditEntry], wanted: String? = nil) throws -> AuditChain {
        var chain = AuditChain(wanted: wanted)
        for entry in entries { try chain.append(entry) }
        return chain
    }

    @Test("holds as it was written, and has each digest that was kept elsewhere")
    func holdsAsItWasWrittenAndHasEachDigestThatWasKeptElsewhere() throws {
        let entries = self.log(20)
        let chain = try self.check(entries, wanted: entries[4].digest)
        #expect(chain.head == entries[19].digest)
        #expect(chain.hasWanted)
    }

    /// A log of twelve entries whose first ten are sealed, five by five, by entries 11 and 12, and its seals.
    private func sealed() -> (entries: [AuditEntry], seals: [AuditSeal]) {
        var (entries, seals): ([AuditEntry], [AuditSeal]) = (self.log(10), [])
        for (month, last) in [("2026-09", 5), ("2026-10", 10)] {
            let number = Int64(entries.count + 1)
            let time = (try? Timestamp("\(month)-01T00:00:00Z")) ?? Timestamp(secondsSince1970: 0)
            seals.append(
                AuditSeal(
                    period: AuditPeriod(time), first: Int64(last - 4), last: Int64(last),
                    head: entries[last - 1].digest,
                    previous: seals.last?.digest ?? AuditEntry.origin, entry: number))
            entries.append(
                AuditEntry(
                    number: number, time: entries[9].time, actor: "service", action: AuditSeal.action,
                    detail: seals[seals.count - 1].detail, previous: entries[entries.count - 1].digest))
        }
        return (entries, seals)
    }

    private func check(_ entries: some Sequence<AuditEntry>, _ seals: [AuditSeal], wanted: String? = nil) throws
        -> AuditChain
    {
        var chain = AuditChain(seals: seals, wanted: wanted)
        for entry in entries { try chain.append(entry) }
        try chain.finish()
        return chain
    }

    @Test(
        "whose sealed begin was removed, in whole or in part, holds, and has the heads of its seals", arguments: 0...10)
    func whoseSealedBeginWasRemovedInWholeOrInPartHoldsAndHasTheHeadsOfItsSeals(by count: Int) throws {
        let (entries, seals) = self.sealed()
        for seal in seals {
            let chain = try self.check(entries.dropFirst(count), seals, wanted: seal.head)
            #expect(chain.head == entries[11].digest)
            #expect(chain.first == Int64(count + 1))
            #expect(chain.hasWanted)
        }
        #expect(try self.check(entries.dropFirst(count), seals, wanted: entries[2].digest).hasWanted == (count < 3))
    }

    @Test("that is shortened beyond its seals, or whose seals are not those that it names, breaks")
    func thatIsShortenedBeyondItsSealsOrWhoseSealsAreNotThoseThatItNamesBreaks() throws {
        let (entries, seals) = self.sealed()
        let other = AuditSeal(
            period: seals[1].period, first: 6, last: 10, head: AuditEntry.origin, previous: seals[0].digest, entry: 12)
        let longer = AuditSeal(
            period: seals[1].period, first: 6, last: 11, head: entries[10].digest, previous: seals[0].digest, entry: 12)
        let first = AuditSeal(
            period: seals[0].period, first: 1, last: 5, head: AuditEntry.origin, previous: AuditEntry.origin, entry: 11)
        for (count, seals) in [
            (11, seals), (1, []), (6, [seals[0]]), (5, [seals[1]]), (10, [seals[0], other]), (11, [seals[0], longer]),
            (10, [first, seals[1]]), (0, [seals[0]]), (0, []), (0, [seals[0], other]),
        ] {
            #expect(throws: AuditChain.VerificationError.self, "\(count), \(seals)") {
                try self.check(entries.dropFirst(count), seals)
            }
        }
        // Cut off at its end, together with what names the newest seal.
        #expect(throws: AuditChain.VerificationError.self) { try self.check(entries.dropLast(1), seals) }
        #expect(throws: AuditChain.VerificationError.self) { try self.check(entries.prefix(0), seals) }
    }

    @Test("that was rewritten, or has a gap, breaks; one that was cut off lacks a digest that was kept")
    func thatWasRewrittenOrHasAGapBreaksOneThatWasCutOffLacksADigestThatWasKept() throws {
        let entries = self.log(20)
        var rewritten = entries
        rewritten[7] = AuditEntry(
            number: 8, time: entries[7].time, actor: "cli", action: "publish", detail: "something else",
            previous: entries[7].previous)
        #expect(throws: AuditChain.VerificationError.self) { try self.check(rewritten) }
        #expect(throws: AuditChain.VerificationError.self) { try self.check(Array(entries[..<5] + entries[6...])) }
        #expect(!(try self.check(Array(entries[..<10]), wanted: entries[19].digest).hasWanted))
    }
}
