// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// The rule of formats.md, section 2, as slowly and plainly as it can be said: the model that the index is held against.
private struct LinearModel {
    let entries: [(labels: [Substring], includeSubdomains: Bool)]

    /// The place of the entry that applies to a name.
    func entry(for host: String) -> Int? {
        let labels = host.split(separator: ".")
        if let exact = self.entries.firstIndex(where: { $0.labels == labels }) { return exact }
        return self.entries.indices
            .filter { index in
                let entry = self.entries[index]
                return entry.includeSubdomains && entry.labels.count < labels.count
                    && Array(labels.suffix(entry.labels.count)) == entry.labels
            }
            .max { self.entries[$0].labels.count < self.entries[$1].labels.count }
    }
}

@Suite("The index against a linear model")
struct DomainIndexPropertyTests {
    // Few and similar labels, so that names share suffixes, in bytes and in labels.
    private static let labels = [
        "a", "aa", "b", "ab", "ba", "com", "xcom", "example", "evilexample", "e-x", "xn--a", "1", "_a",
    ]

    private func name(using random: inout SeededGenerator) -> String {
        let count = Int.random(in: 1...5, using: &random)
        let labels = (0..<count).map { _ in Self.labels[Int.random(in: Self.labels.indices, using: &random)] }
        // A last label of digits would be an address or nothing.
        return (labels + (labels.last == "1" ? ["com"] : [])).joined(separator: ".")
    }

    @Test("any hosts, any entries: the same entry applies", arguments: [71, 72, 73, 74] as [UInt64])
    func anyHostsAnyEntriesTheSameEntryApplies(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var exact = 0
        var inherited = 0
        for _ in 0..<40 {
            var names: Set<String> = []
            for _ in 0..<Int.random(in: 0...60, using: &random) { names.insert(self.name(using: &random)) }
            // Sorted, since a set's order is another one in each run.
            let entries = try names.sorted().map { name in
                PinnedDomain(try HostName(name), includeSubdomains: Bool.random(using: &random), pins: [])
            }
            let policy = try PinningPolicy(domains: entries)
            let model = LinearModel(
                entries: entries.map { ($0.domain.description.split(separator: "."), $0.includeSubdomains) })
            for _ in 0..<250 {
                let host = self.name(using: &random)
                let expected = model.entry(for: host).map { entries[$0] }
                #expect(policy.entry(for: try HostName(host)) == expected, "\(host)")
                guard let expected else { continue }
                if expected.domain.description == host { exact += 1 } else { inherited += 1 }
            }
        }
        // Both rules must have been met often, or the test compares nothing with nothing.
        #expect(exact > 200)
        #expect(inherited > 200)
    }
}
