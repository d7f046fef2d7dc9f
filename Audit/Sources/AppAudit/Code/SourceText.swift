// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A text file by its lines: where a byte stands, what a line says, and what is allowed in it.
struct SourceText {
    /// `tumbler:allow RULE reason` at a line.
    struct Allowance {
        let rule: String
        let reason: String
        let line: Int
    }

    /// The path as reports show it.
    let path: String
    let bytes: [UInt8]
    /// The offset of each line.
    private let starts: [Int]
    /// The allowances, and their places.
    let allowances: [Allowance]

    init(_ bytes: [UInt8], path: String) {
        self.path = path
        self.bytes = bytes
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        self.starts = starts
        self.allowances = Self.allowances(in: bytes, starts)
    }

    /// The line of a byte, from 1 on.
    func line(of offset: Int) -> Int {
        var low = 0
        var high = self.starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if self.starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The text of a line, without blanks around it, and no more of it than a report needs.
    func text(of line: Int) -> String {
        guard line >= 1, line <= self.starts.count else { return "" }
        let start = self.starts[line - 1]
        let end = line < self.starts.count ? self.starts[line] : self.bytes.count
        let text = self.bytes[start..<min(end, start + 1_000)]
        let trimmed = text.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        return PrintableText.line(String(decoding: trimmed, as: UTF8.self))
    }

    /// The first line from a line on that has a text; `nil` where there is none, and in a file that is too long to search.
    func line(with text: String, from line: Int = 1) -> Int? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, line >= 1, line <= self.starts.count,
            self.bytes.count <= Auditor.Limits.searched
        else { return nil }
        var index = self.starts[line - 1]
        while index <= self.bytes.count - wanted.count {
            if self.bytes[index] == first, self.bytes[index...].starts(with: wanted) { return self.line(of: index) }
            index += 1
        }
        return nil
    }

    /// The line of a key of a property list within others, the outermost first.
    func line(ofKeys keys: [String]) -> Int? {
        guard !self.bytes.starts(with: Array("bplist".utf8)) else { return nil }
        var line: Int?
        for key in keys { line = self.line(with: "<key>\(key)</key>", from: line ?? 1) ?? line }
        return line
    }

    /// A finding at a line.
    func finding(
        _ rule: AuditRule, _ severity: AuditRule.Severity? = nil, line: Int?, _ message: String
    ) -> AuditFinding {
        AuditFinding(
            rule, severity, in: self.path, line: line, context: line.map { self.text(of: $0) } ?? "", message)
    }

    private static func allowances(in bytes: [UInt8], _ starts: [Int]) -> [Allowance] {
        let mark = Array("tumbler:allow".utf8)
        var found: [Allowance] = []
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : bytes.count
            // A line that long is not a hand-written comment.
            guard end - start >= mark.count, end - start <= 2_000 else { continue }
            let line = bytes[start..<end]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let place = self.place(of: mark, in: line, from: colon)
            else { continue }
            var rest = String(decoding: line[(place + mark.count)...], as: UTF8.self)
            for end in ["-->", "*/"] where rest.contains(end) {
                rest = String(rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.endIndex)])
            }
            let words = rest.split(whereSeparator: \.isWhitespace)
            found.append(
                Allowance(
                    rule: words.first.map(String.init) ?? "", reason: words.dropFirst().joined(separator: " "),
                    line: index + 1))
        }
        return found
    }

    /// The place of the mark, given that no colon stands before one.
    private static func place(of mark: [UInt8], in line: ArraySlice<UInt8>, from colon: Int) -> Int? {
        var colon: Int? = colon
        while let found = colon {
            let start = found - 7
            if start >= line.startIndex, line[start...].starts(with: mark) { return start }
            colon = line[(found + 1)...].firstIndex(of: UInt8(ascii: ":"))
        }
        return nil
    }
}
