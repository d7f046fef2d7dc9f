// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The exported names of a Mach-O image: a tree whose edges are parts of names (`<mach-o/loader.h>`, export trie).
struct MachOExports: Sendable {
    private let file: ExecutableBytes
    private let part: MachOHeader.Part

    /// The names in a part of a file.
    init(_ file: ExecutableBytes, _ part: MachOHeader.Part) {
        self.file = file
        self.part = part
    }

    /// Where a name is, from the image's base on, and what it names; `nil` where it is not exported, or is another's.
    func find(_ name: String) -> (offset: UInt64, kind: ImageSymbol.Kind)? {
        var reader = LEB128Reader(self.file, self.part)
        var rest = Array(name.utf8)[...]
        var budget = ImageLimits.trieBytes
        for _ in 0...ImageLimits.trieSteps {
            guard let size = reader.unsigned() else { return nil }
            if rest.isEmpty { return size == 0 ? nil : Self.terminal(&reader) }
            let (children, overflow) = reader.index.addingReportingOverflow(size)
            guard !overflow else { return nil }
            reader.index = children
            guard let next = Self.child(&reader, &rest, &budget) else { return nil }
            reader.index = next
        }
        return nil
    }

    /// Where the child stands whose edge the name goes on with; takes the edge off the name.
    private static func child(
        _ reader: inout LEB128Reader, _ rest: inout ArraySlice<UInt8>, _ budget: inout Int
    ) -> UInt64? {
        guard let count = reader.byte() else { return nil }
        for _ in 0..<count {
            guard let edge = reader.text(), let next = reader.unsigned() else { return nil }
            budget -= edge.utf8.count + 2
            guard budget > 0 else { return nil }
            // An edge without a letter would go round for ever.
            if !edge.isEmpty, rest.starts(with: edge.utf8) {
                rest = rest.dropFirst(edge.utf8.count)
                return next
            }
        }
        return nil
    }

    /// Flags and an address: bit 3 is another library's name, bit 4 a resolver, whose own offset follows the stub's.
    private static func terminal(_ reader: inout LEB128Reader) -> (offset: UInt64, kind: ImageSymbol.Kind)? {
        guard let flags = reader.unsigned(), flags & 8 == 0, let offset = reader.unsigned() else { return nil }
        return (offset, flags & 0x10 != 0 ? .resolver : .other)
    }
}
