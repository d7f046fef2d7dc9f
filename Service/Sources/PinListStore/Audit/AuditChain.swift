// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Checks a log from the oldest entry that is left to its newest: entry by entry, then ``finish()``.
///
/// Entries may be missing at its begin as far as seals cover them. Anything else that is missing, or does not follow, is a
/// break.
package struct AuditChain: Sendable {
    /// A break in a log.
    package struct VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The number of the entry that does not follow.
        package let number: Int64
        /// The defect, in one sentence without a full stop.
        package let description: String

        /// States where the log does not hold, and why.
        package init(number: Int64, description: String) {
            self.number = number
            self.description = description
        }
    }

    /// The digest of the newest entry that was checked.
    package private(set) var head = AuditEntry.origin
    /// The number of the newest entry that was checked: how many there ever were.
    package private(set) var count: Int64 = 0
    /// The number of the oldest entry that is left; `nil` before any was checked.
    package private(set) var first: Int64?
    /// Whether an entry, or the head of a seal, has the digest that was kept; it counts when ``finish()`` did not throw.
    package private(set) var hasWanted: Bool

    private let wanted: String?
    private let seals: [AuditSeal]
    private let sealsByLast: [Int64: AuditSeal]
    private let sealsByEntry: [Int64: AuditSeal]

    /// Begins in front of the oldest entry.
    ///
    /// - Parameters:
    ///   - seals: The seals of the log, the first one first.
    ///   - wanted: A digest that was kept elsewhere: an entry of the log, or the head of a seal, must have it.
    package init(seals: [AuditSeal] = [], wanted: String? = nil) {
        self.seals = seals
        self.wanted = wanted
        self.hasWanted = seals.contains { $0.head == wanted }
        self.sealsByLast = Dictionary(seals.map { ($0.last, $0) }) { first, _ in first }
        self.sealsByEntry = Dictionary(seals.map { ($0.entry, $0) }) { first, _ in first }
    }

    /// Checks the next entry.
    ///
    /// - Throws: ``VerificationError``.
    package mutating func append(_ entry: AuditEntry) throws(VerificationError) {
        if self.first == nil { try self.begin(with: entry) }
        guard entry.number == self.count + 1 else {
            throw VerificationError(number: entry.number, description: "entry \(self.count + 1) is missing")
        }
        guard entry.previous == self.head else {
            throw VerificationError(
                number: entry.number, description: "entry \(entry.number) does not follow the one before it")
        }
        self.count = entry.number
        self.head = entry.digest
        if let seal = self.sealsByLast[entry.number], seal.head != self.head {
            throw VerificationError(
                number: entry.number,
                description: "entry \(entry.number) is not the one that the seal of \(seal.period) ends with")
        }
        let seal = self.sealsByEntry[entry.number]
        guard (seal != nil) == (entry.action == AuditSeal.action), seal.map({ $0.detail == entry.detail }) ?? true
        else {
            throw VerificationError(
                number: entry.number, description: "entry \(entry.number) and the seals contradict each other")
        }
        if self.head == self.wanted { self.hasWanted = true }
    }

    /// Ends behind the newest entry.
    ///
    /// - Throws: ``VerificationError`` when the log ends before the entry that names the newest seal.
    package func finish() throws(VerificationError) {
        guard let seal = self.seals.last, seal.entry > self.count else { return }
        throw VerificationError(
            number: seal.entry,
            description: "entry \(seal.entry), which names the seal of \(seal.period), is missing")
    }

    /// Expects seals that follow each other, and cover what is missing in front of an entry.
    ///
    /// What stands in front of an entry in the middle of a sealed period is not known: the head of the seal, which its last
    /// entry must have, vouches for it.
    private mutating func begin(with entry: AuditEntry) throws(VerificationError) {
        var (previous, next) = (AuditEntry.origin, Int64(1))
        for seal in self.seals {
            guard seal.previous == previous, seal.first == next, seal.last >= seal.first, seal.entry > seal.last else {
                throw VerificationError(
                    number: seal.entry, description: "the seal of \(seal.period) does not follow the one before it")
            }
            (previous, next) = (seal.digest, seal.last + 1)
        }
        self.first = entry.number
        guard entry.number > 1, entry.number <= next else { return }
        self.count = entry.number - 1
        self.head = self.sealsByLast[self.count]?.head ?? entry.previous
    }
}
