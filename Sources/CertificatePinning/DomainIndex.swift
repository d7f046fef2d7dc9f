// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Finds the entry that applies to a host: the exact name, else the nearest parent that includes its subdomains.
///
/// A host is read once, from its right end, label by label; each suffix that ends at a label's edge costs one look-up
/// in a hash table, however many domains there are.
struct DomainIndex: Sendable {
    private let domains: [PinnedDomain]
    private let slots: [UInt64: Int]

    /// Indexes some entries.
    ///
    /// - Throws: ``InputError/Code/policy`` when two entries have the same domain.
    init(_ domains: [PinnedDomain]) throws(InputError) {
        var slots: [UInt64: Int] = [:]
        slots.reserveCapacity(domains.count)
        for (index, entry) in domains.enumerated() {
            var hash = SuffixHash()
            for byte in entry.domain.description.utf8.reversed() { hash.prepend(byte) }
            // Two names with one hash: the later one takes the next free slot, as a look-up will.
            var key = hash.value
            while let taken = slots[key] {
                guard domains[taken].domain != entry.domain else {
                    throw InputError(.policy, "two entries are for \(entry.domain)")
                }
                key &+= 1
            }
            slots[key] = index
        }
        self.domains = domains
        self.slots = slots
    }

    /// The entry that applies to a host (its domain is the noted hostname of RFC 7469), or `nil`.
    func entry(for host: HostName) -> PinnedDomain? {
        let bytes = host.description.utf8
        var found: Int?
        var hash = SuffixHash()
        var index = bytes.endIndex
        while index > bytes.startIndex {
            bytes.formIndex(before: &index)
            // An address has no parents: only all of it is looked up.
            if bytes[index] == UInt8(ascii: "."), !host.isAddress,
                let parent = self.slot(of: bytes[bytes.index(after: index)...], hash: hash),
                self.domains[parent].includeSubdomains
            {
                found = parent
            }
            hash.prepend(bytes[index])
        }
        return (self.slot(of: bytes[...], hash: hash) ?? found).map { self.domains[$0] }
    }

    private func slot(of name: Substring.UTF8View, hash: SuffixHash) -> Int? {
        var key = hash.value
        while let slot = self.slots[key] {
            if self.domains[slot].domain.description.utf8.elementsEqual(name) { return slot }
            key &+= 1
        }
        return nil
    }
}

/// FNV-1a (64 bits), fed from the end of a name, so that each suffix's hash is at hand on the way.
///
/// Who chooses hosts does not choose what is in the table, and the table's own hash is seeded by the standard library.
private struct SuffixHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func prepend(_ byte: UInt8) {
        self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
