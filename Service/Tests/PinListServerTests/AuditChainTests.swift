// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListServer
import Testing

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

    @Test("holds as it was written, and has each digest that somebody kept")
    func whole() throws {
        let entries = self.log(20)
        let chain = try self.check(entries, wanted: entries[4].digest)
        #expect(chain.head == entries[19].digest)
        #expect(chain.hasWanted)
    }

    @Test("that was rewritten, or has a gap, breaks; one that was cut off lacks the digest that somebody kept")
    func tampered() throws {
        let entries = self.log(20)
        var rewritten = entries
        rewritten[7] = AuditEntry(
            number: 8, time: entries[7].time, actor: "cli", action: "publish", detail: "something else",
            previous: entries[7].previous)
        #expect(throws: AuditChain.Break.self) { try self.check(rewritten) }
        #expect(throws: AuditChain.Break.self) { try self.check(Array(entries[..<5] + entries[6...])) }
        #expect(!(try self.check(Array(entries[..<10]), wanted: entries[19].digest).hasWanted))
    }
}
