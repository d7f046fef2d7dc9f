// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Finds the entry that applies to a host: the exact name, else the nearest parent that includes its subdomains.
///
/// A host is read once, from its right end, label by label; each suffix that ends at a label's edge costs one look-up
/// in a hash table, however many domains there are.
struct DomainIndex: Sendable {
    private struct Slot {
        let name: [UInt8]
        let entry: PinnedDomain
    }

    private let slots: [UInt64: Slot]

    /// An index without entries.
    init() { self.slots = [:] }

    /// Indexes some entries.
    ///
    /// - Throws: ``InputError/Code/policy`` when two entries have the same domain.
    init(_ domains: [PinnedDomain]) throws(InputError) {
        var slots: [UInt64: Slot] = [:]
        slots.reserveCapacity(domains.count)
        for entry in domains {
            let name = Array(entry.domain.description.utf8)
            var hash = SuffixHash()
            for byte in name.reversed() { hash.prepend(byte) }
            // Two names with one hash: the later one takes the next free slot, as a look-up will.
            var key = hash.value
            while let taken = slots[key] {
                guard taken.name != name else { throw InputError(.policy, "two entries are for \(entry.domain)") }
                key &+= 1
            }
            slots[key] = Slot(name: name, entry: entry)
        }
        self.slots = slots
    }

    /// The same index with entries that are changed, but for their domains.
    func mapEntries(_ change: (inout PinnedDomain) -> Void) -> DomainIndex {
        DomainIndex(
            slots: self.slots.mapValues { slot in
                var entry = slot.entry
                change(&entry)
                return Slot(name: slot.name, entry: entry)
            })
    }

    private init(slots: [UInt64: Slot]) { self.slots = slots }

    /// The entry that applies to a host (its domain is the noted hostname of RFC 7469), or `nil`.
    func entry(for host: HostName) -> PinnedDomain? {
        var text = host.description
        return text.withUTF8 { name in
            var parent: PinnedDomain?
            var hash = SuffixHash()
            for index in name.indices.reversed() {
                // An address has no parents: only all of it is looked up.
                if name[index] == UInt8(ascii: "."), !host.isAddress,
                    let slot = self.slot(of: name[(index + 1)...], hash), slot.entry.includeSubdomains
                {
                    parent = slot.entry
                }
                hash.prepend(name[index])
            }
            return self.slot(of: name[...], hash)?.entry ?? parent
        }
    }

    private func slot(of name: Slice<UnsafeBufferPointer<UInt8>>, _ hash: SuffixHash) -> Slot? {
        var key = hash.value
        while let slot = self.slots[key] {
            if slot.name.elementsEqual(name) { return slot }
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

    @inline(__always)
    mutating func prepend(_ byte: UInt8) {
        self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
