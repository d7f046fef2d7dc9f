// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Text that others chose (names of threads, of libraries, of files), made fit for a log.
enum PrintableEvidence {
    /// One line of printable ASCII.
    static func line(_ text: String, maximumLength: Int) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            line.unicodeScalars.append((0x20...0x7E).contains(scalar.value) ? scalar : "?")
        }
        return line
    }

    /// The last part of a path: which folder a file lies in is the business of whom installed it.
    static func name(ofPath path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: 0x2F) else { return path }
        return String(path[bytes.index(after: slash)...])
    }
}
