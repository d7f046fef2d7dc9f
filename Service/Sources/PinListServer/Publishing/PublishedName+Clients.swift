// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

extension PublishedName {
    /// What a client finds, by the root that its app ships, one line for each: the roots that it follows and the list.
    var clients: [String] {
        guard let first = self.roots.first?.root.version, let newest = self.newestRoot?.version else {
            return ["nothing is published yet; the first publication is root \(self.configured.version) and a list"]
        }
        var lines: [String] = []
        if first == 3 { lines.append("clients that ship root 1: not served here, they stay on root 1") }
        if first > 3 {
            lines.append("clients that ship roots 1 to \(first - 2): not served here, each stays on its root")
        }
        if first > 1 {
            lines.append(
                "clients that ship root \(first - 1): \(self.way(from: first, to: newest)), "
                    + "where keys of root \(first - 1) signed root \(first)")
        }
        lines += self.roots.map { held in
            "clients that ship root \(held.root.version): \(self.way(from: held.root.version + 1, to: newest))"
        }
        return lines
    }

    /// The roots that a client follows, and the list after them.
    private func way(from next: Int64, to newest: Int64) -> String {
        let list = self.list.map { "list \($0.list.version)" } ?? "no list"
        if next > newest { return list }
        return "\(next == newest ? "root \(next)" : "roots \(next) to \(newest)"), then \(list)"
    }
}
