// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Versions of lists as people read them.
public enum ListVersions {
    /// Versions, each once and in their order: `versions 3 to 5 and 7`.
    public static func text(of versions: [Int64]) -> String {
        let versions = Set(versions).sorted()
        var runs: [ClosedRange<Int64>] = []
        for version in versions {
            if let last = runs.last, last.upperBound + 1 == version {
                runs[runs.count - 1] = last.lowerBound...version
            } else {
                runs.append(version...version)
            }
        }
        let texts = runs.map(Self.numbers)
        let all = texts.dropLast().joined(separator: ", ") + (texts.count > 1 ? " and " : "") + (texts.last ?? "")
        return (versions.count == 1 ? "version " : "versions ") + all
    }

    /// Versions without a gap: `versions 3 to 5`.
    public static func text(of run: ClosedRange<Int64>) -> String {
        (run.lowerBound == run.upperBound ? "version " : "versions ") + self.numbers(run)
    }

    private static func numbers(_ run: ClosedRange<Int64>) -> String {
        guard run.lowerBound < run.upperBound else { return "\(run.lowerBound)" }
        return "\(run.lowerBound) \(run.lowerBound + 1 == run.upperBound ? "and" : "to") \(run.upperBound)"
    }
}
