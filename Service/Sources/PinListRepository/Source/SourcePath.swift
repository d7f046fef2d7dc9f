// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Paths that a source names, as texts: which file is meant is said without looking at the disk.
package enum SourcePath {
    /// A path that is named in a file, from where the file itself is named from.
    package static func beside(_ file: String, _ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return String(file[...slash]) + path
    }

    /// A path without `.`, `//` and `name/..`.
    static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}
