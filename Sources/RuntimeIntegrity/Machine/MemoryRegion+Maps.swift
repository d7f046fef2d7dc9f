// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension MemoryRegion {
    /// Reads a line of `/proc/self/maps` (proc(5)):
    /// `start-end perms offset device inode              path`, numbers in base 16 but for the inode.
    ///
    /// - Returns: `nil` when it is not of that form.
    init?(parsing line: UnsafeRawBufferPointer) {
        var rest = MapsLine(line)
        guard
            let start = rest.number(base: 16, upTo: 0x2D),
            let end = rest.number(base: 16, upTo: 0x20), start < end,
            let permissions = rest.permissions(),
            let offset = rest.number(base: 16, upTo: 0x20),
            rest.skip(past: 0x20),
            let inode = rest.number(base: 10, upTo: 0x20)
        else { return nil }
        self.init(
            start: start, end: end, permissions: permissions, offset: offset, inode: inode, path: rest.path())
    }
}

/// A line that is read from its front.
private struct MapsLine {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// A number that ends before `end` or with the line.
    mutating func number(base: UInt64, upTo end: UInt8) -> UInt64? {
        var number: UInt64 = 0
        let start = self.position
        while self.position < self.bytes.count, self.bytes[self.position] != end {
            let byte = self.bytes[self.position]
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66 where base == 16: digit = byte - 0x61 + 10
            default: return nil
            }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: base)
            guard !isTooLarge else { return nil }
            let (sum, isStillTooLarge) = product.addingReportingOverflow(UInt64(digit))
            guard !isStillTooLarge else { return nil }
            number = sum
            self.position += 1
        }
        guard self.position > start else { return nil }
        self.position += 1
        return number
    }

    /// Four letters and a space.
    mutating func permissions() -> MemoryRegion.Permissions? {
        guard self.position + 4 < self.bytes.count else { return nil }
        var permissions: MemoryRegion.Permissions = []
        if self.bytes[self.position] == 0x72 { permissions.insert(.read) }
        if self.bytes[self.position + 1] == 0x77 { permissions.insert(.write) }
        if self.bytes[self.position + 2] == 0x78 { permissions.insert(.execute) }
        if self.bytes[self.position + 3] == 0x73 { permissions.insert(.shared) }
        self.position += 5
        return permissions
    }

    mutating func skip(past end: UInt8) -> Bool {
        while self.position < self.bytes.count {
            self.position += 1
            if self.bytes[self.position - 1] == end { return true }
        }
        return false
    }

    /// What is left, without the spaces before it. A path may have spaces in it.
    mutating func path() -> String {
        while self.position < self.bytes.count, self.bytes[self.position] == 0x20 { self.position += 1 }
        guard self.position < self.bytes.count else { return "" }
        return String(decoding: UnsafeRawBufferPointer(rebasing: self.bytes[self.position...]), as: UTF8.self)
    }
}
