// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where two arrays of the same length differ.
struct ByteDifferences {
    private let left: [UInt8]
    private let right: [UInt8]
    private let ignored: [Range<Int>]

    /// The differences of two arrays of the same length, but for some indexes.
    ///
    /// - Parameter ignored: In order, without overlaps.
    init(_ left: [UInt8], _ right: [UInt8], except ignored: [Range<Int>]) {
        self.left = left
        self.right = right
        self.ignored = ignored
    }

    /// Whether there is none, relocated bytes included: eight words at a time, for nearly all code is the same.
    static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        let whole = left.count & ~63
        let areBlocksSame = left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                var block = 0
                while block < whole {
                    var changed: UInt64 = 0
                    for word in 0..<8 {
                        let index = block + word * 8
                        changed |=
                            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                            ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    }
                    guard changed == 0 else { return false }
                    block += 64
                }
                return true
            }
        }
        return areBlocksSame && left[whole...].elementsEqual(right[whole...])
    }

    /// Goes through the runs, joined as ``CodeComparison/joinedBytes`` says, until `body` answers `false`.
    func forEach(_ body: (Range<Int>) -> Bool) {
        var run: Range<Int>?
        var next = 0
        for index in 0..<min(self.left.count, self.right.count) where self.left[index] != self.right[index] {
            while next < self.ignored.count, self.ignored[next].upperBound <= index { next += 1 }
            if next < self.ignored.count, self.ignored[next].contains(index) { continue }
            if let held = run, index - held.upperBound >= CodeComparison.joinedBytes {
                guard body(held) else { return }
                run = nil
            }
            run = (run?.lowerBound ?? index)..<index + 1
        }
        if let run { _ = body(run) }
    }
}
