// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The slots of one image that were judged, and what stood in them: to see that nobody touched them since.
///
/// Of each slot its place is kept, and of all values one sum that depends on each and on its place, under the process's
/// own key for hashes.
struct JudgedSlots: Sendable {
    /// The most slots: 4 bytes each.
    static let most = 1 << 16

    private let base: UInt64
    private var offsets: [UInt32] = []
    private var sum: UInt64 = 0

    /// Whether all slots were kept that were noted: no more than ``most``, and none 4 GiB behind the base.
    private(set) var isWhole = true

    /// No slot yet.
    ///
    /// - Parameter base: An address at or below all slots.
    init(from base: UInt64) { self.base = base }

    /// Keeps what stands in a slot.
    mutating func note(_ value: UInt64, at address: UInt64) {
        guard self.offsets.count < Self.most, let offset = UInt32(exactly: address &- self.base) else {
            self.isWhole = false
            return
        }
        self.offsets.append(offset)
        self.sum &+= Self.mark(value, address)
    }

    /// Prepares for reading: linkers list slots by name, and memory is read in order.
    mutating func sort() { self.offsets.sort() }

    /// Whether the same stands there still; `false` when it cannot be read.
    func stand(in memory: ExecutableBytes) -> Bool {
        var window = ByteWindow(memory)
        var sum: UInt64 = 0
        for offset in self.offsets {
            let address = self.base &+ UInt64(offset)
            guard let value = window.littleEndian(UInt64.self, at: address) else { return false }
            sum &+= Self.mark(value, address)
        }
        return sum == self.sum
    }

    private static func mark(_ value: UInt64, _ address: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(address)
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
