// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The bytes of a file as lines, each with its own end, so that whole lines can come and go and no other byte changes.
struct SourceLines {
    /// The lines with their ends; the last one may have none.
    private(set) var lines: [[UInt8]]

    init(_ bytes: [UInt8]) {
        var lines: [[UInt8]] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append(Array(bytes[start...index]))
            start = index + 1
        }
        if start < bytes.count { lines.append(Array(bytes[start...])) }
        self.lines = lines
    }

    /// All of them.
    var bytes: [UInt8] { self.lines.flatMap { $0 } }

    /// The end of most lines: that of the first one, as in the rest.
    private var lineEnd: [UInt8] {
        self.lines.first?.suffix(2) == [0x0D, 0x0A] ? [0x0D, 0x0A] : [0x0A]
    }

    /// The text of a line without its end; empty where there is none.
    func text(_ index: Int) -> String {
        guard self.lines.indices.contains(index) else { return "" }
        var line = self.lines[index][...]
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Puts a line in front of another, or at the end. A file whose last line had no end still has none.
    mutating func insert(_ text: String, at index: Int) {
        let end = self.lineEnd
        if index < self.lines.count {
            self.lines.insert(Array(text.utf8) + end, at: index)
        } else if let last = self.lines.last, last.last != 0x0A {
            self.lines[self.lines.count - 1] += end
            self.lines.append(Array(text.utf8))
        } else {
            self.lines.append(Array(text.utf8) + end)
        }
    }

    /// Takes lines out. When the last one goes and had no end, the one before it has none.
    mutating func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<self.lines.count)
        let hadEnd = self.lines.last?.last == 0x0A
        let isLast = !range.isEmpty && range.upperBound == self.lines.count
        self.lines.removeSubrange(range)
        guard isLast, !hadEnd, var last = self.lines.popLast() else { return }
        while last.last == 0x0A || last.last == 0x0D { last.removeLast() }
        self.lines.append(last)
    }

    /// Puts another text into the place of a line, whose end stays.
    mutating func replace(_ index: Int, with text: String) {
        guard self.lines.indices.contains(index) else { return }
        let end = self.lines[index].reversed().prefix { $0 == 0x0A || $0 == 0x0D }.reversed()
        self.lines[index] = Array(text.utf8) + end
    }

    /// The number of blanks in front of a line's text, or `nil` for a line that is blank or a comment.
    func indentation(_ index: Int) -> Int? {
        let text = self.text(index)
        let rest = text.drop { $0 == " " }
        guard let first = rest.first, first != "#", first != "\t" else { return nil }
        return text.count - rest.count
    }
}
