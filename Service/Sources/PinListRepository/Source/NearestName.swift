// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that a misspelt one may mean.
public enum NearestName {
    /// The maximum length of a name that is compared: the work grows with the product of the lengths.
    private static let maximumLength = 64

    /// The known name with the fewest changed, missing or surplus letters, upper case being equal to lower case; `nil`
    /// where more than half of it would have to change.
    public static func of(_ name: String, among known: [String]) -> String? {
        guard name.utf8.count <= self.maximumLength else { return nil }
        let best = known.map { ($0, self.distance(name.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
        guard let best, best.1 * 2 <= best.0.utf8.count else { return nil }
        return best.0
    }

    /// Levenshtein's distance, with two neighbours that changed places counted as one change.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var cost = min(last[j + 1], row[j]) + 1
                cost = min(cost, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
