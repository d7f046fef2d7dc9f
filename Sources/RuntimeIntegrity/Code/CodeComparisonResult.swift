// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a comparison of code found, and how far it came.
struct CodeComparisonResult: Hashable, Sendable {
    /// The differences by address: at most ``CodeComparison/mostDifferences``.
    var differences: [CodeDifference] = []
    /// Whether there were more differences than are given.
    var hasMore = false
    /// How many bytes were compared.
    var comparedBytes = 0
    /// Bytes that could not be read, of the file or of memory: they are not known to be right.
    var unreadable: [CodeRange] = []

    /// Whether all that was asked for could be compared, and is the same.
    var isSame: Bool { self.differences.isEmpty && !self.hasMore && self.unreadable.isEmpty }

    /// Adds a difference while there is room.
    mutating func add(_ difference: CodeDifference) {
        if self.differences.count < CodeComparison.mostDifferences {
            self.differences.append(difference)
        } else {
            self.hasMore = true
        }
    }
}
