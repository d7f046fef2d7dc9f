// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Finds the entry that applies to a host: the exact name, else the nearest parent that includes its subdomains.
///
/// A host is read once, from its right end, label by label; each suffix that ends at a label's edge costs one look-up
/// in a hash table, for any number of domains.
///
/// The table is our own because a `Dictionary` hashes each suffix's hash once more and copies an entry, with its five
/// counted references, for each suffix that is found: a quarter more instructions for a whole decision on a path.
struct DomainIndex: Sendable {
    private struct Slot {
        let hash: UInt64
        let name: [UInt8]
        var entry: PinnedDomain
    }

    private var slots: [Slot]

    /// Open addressing with linear probing: a power of two, more than twice as many places as there are slots. A place
    /// holds the index of a slot, or ``free``.
    private let places: [Int]

    private static let free = -1

    /// An index without entries.
    init() {
        self.slots = []
        self.places = [Self.free]
    }

    /// Indexes some entries.
    ///
    /// - Throws: ``InputError/Code/policy`` when two entries have the same domain.
    init(_ domains: [PinnedDomain]) throws(InputError) {
        var places = [Int](repeating: Self.free, count: 1)
        while places.count <= 2 * domains.count { places.append(contentsOf: places) }
        var slots: [Slot] = []
        slots.reserveCapacity(domains.count)
        for entry in domains {
            let name = Array(entry.domain.description.utf8)
            var hash = SuffixHash()
            for byte in name.reversed() { hash.prepend(byte) }
            var place = hash.place(among: places.count)
            while places[place] != Self.free {
                guard slots[places[place]].name != name else {
                    throw InputError(.policy, "two entries are for \(entry.domain)")
                }
                place = (place + 1) & (places.count - 1)
            }
            places[place] = slots.count
            slots.append(Slot(hash: hash.value, name: name, entry: entry))
        }
        self.slots = slots
        self.places = places
    }

    /// The entries, in the order in which they were given.
    var entries: [PinnedDomain] { self.slots.map(\.entry) }

    /// The same index with entries that are changed, but for their domains.
    func mapEntries(_ change: (inout PinnedDomain) -> Void) -> DomainIndex {
        var index = self
        for slot in index.slots.indices { change(&index.slots[slot].entry) }
        return index
    }

    /// The entry that applies to a host (its domain is the noted hostname of RFC 7469), or `nil`.
    func entry(for host: HostName) -> PinnedDomain? {
        var text = host.description
        let slot = text.withUTF8 { name in
            var parent: Int?
            var hash = SuffixHash()
            for index in name.indices.reversed() {
                // An address has no parents: only all of it is looked up.
                if name[index] == UInt8(ascii: "."), !host.isAddress,
                    let slot = self.slot(of: name[(index + 1)...], hash), self.slots[slot].entry.includeSubdomains
                {
                    parent = slot
                }
                hash.prepend(name[index])
            }
            return self.slot(of: name[...], hash) ?? parent
        }
        return slot.map { self.slots[$0].entry }
    }

    private func slot(of name: Slice<UnsafeBufferPointer<UInt8>>, _ hash: SuffixHash) -> Int? {
        var place = hash.place(among: self.places.count)
        while self.places[place] != Self.free {
            let slot = self.places[place]
            if self.slots[slot].hash == hash.value, self.slots[slot].name.elementsEqual(name) { return slot }
            place = (place + 1) & (self.places.count - 1)
        }
        return nil
    }
}

/// FNV-1a (64 bits), fed from the end of a name, so that the hash of each suffix is an intermediate result.
///
/// An attacker who chooses hosts does not choose what is in the table, which is signed: collisions bring no gain.
private struct SuffixHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    @inline(__always)
    mutating func prepend(_ byte: UInt8) {
        self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    /// The start of the search in a table of this many places, a power of two. The upper bits of the product depend on
    /// all bytes, the lowest on few: both count.
    @inline(__always)
    func place(among count: Int) -> Int {
        Int(truncatingIfNeeded: self.value ^ (self.value >> 32)) & (count - 1)
    }
}
