// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The lines of one list of a source, `- …` below one another or `[…]`: elements come and go by whole lines, and every
/// other byte stays. It may be wrong about unusual layouts: the caller parses the result again.
struct SequenceLines {
    private let bytes: [UInt8]
    private let text: YAMLText
    private let what: String
    private let byHand: String

    /// Begins with a file.
    ///
    /// - Parameters:
    ///   - bytes: The file, which was read as YAML already.
    ///   - file: Its name.
    ///   - what: The name of the list, for errors, such as `suspended`.
    ///   - byHand: The hint where an edit by lines is impossible.
    init(_ bytes: [UInt8], file: String, what: String, byHand: String) throws(RepositoryError) {
        self.bytes = bytes
        self.text = try YAMLText(bytes, file: file)
        self.what = what
        self.byHand = byHand
    }

    /// The error that an edit by whole lines is impossible.
    func refusal(_ position: SourcePosition, _ reason: String) -> RepositoryError {
        position.error("\(reason), which cannot be edited by whole lines", hint: self.byHand)
    }

    /// The scalar at a place, and its index.
    func scalar(at position: SourcePosition) -> (Unicode.Scalar?, Int) {
        let index = self.text.index(line: position.line, column: position.column)
        return (self.text.scalars.indices.contains(index) ? self.text.scalars[index] : nil, index)
    }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    // MARK: Putting in

    /// The bytes with an element in front of the others.
    ///
    /// - Parameters:
    ///   - item: The element as YAML, in one line.
    ///   - member: The member that holds the list.
    func inserting(_ item: String, into member: YAMLValue.Member) throws(RepositoryError) -> [UInt8] {
        var lines = SourceLines(self.bytes)
        switch member.value.content {
        case .scalar where member.value.isEmpty && !Self.isWritten(member):
            lines.insert("\(Self.blanks(member.position.column + 1))- \(item)", at: member.position.line)
        case .sequence(let values) where self.scalar(at: member.value.position).0 == "[":
            return try self.insertingIntoFlow(item, member, values.isEmpty)
        case .sequence:
            let first = member.value.position
            lines.insert("\(Self.blanks(first.column - 1))- \(item)", at: first.line - 1)
        default: throw self.refusal(member.position, "\(self.what) is \(member.value.kind)")
        }
        return lines.bytes
    }

    /// Whether an empty value is written out, as `~` or `null`.
    private static func isWritten(_ member: YAMLValue.Member) -> Bool {
        guard case .scalar(let text, _) = member.value.content else { return true }
        return !text.isEmpty
    }

    /// Into `[…]`: its first line is replaced, and the rest stays.
    private func insertingIntoFlow(
        _ item: String, _ member: YAMLValue.Member, _ isEmpty: Bool
    ) throws(RepositoryError) -> [UInt8] {
        var lines = SourceLines(self.bytes)
        let position = member.value.position
        let line = lines.text(position.line - 1)
        // The column counts from behind a byte order mark, which is in the bytes.
        let offset = position.column + (position.line == 1 && line.unicodeScalars.first == "\u{FEFF}" ? 1 : 0)
        let scalars = Array(line.unicodeScalars)
        let head = Self.string(scalars.prefix(offset))
        let rest = Self.string(scalars.dropFirst(offset))
        let flow = FlowText(self.text.scalars)
        let (_, start) = self.scalar(at: position)
        guard let end = flow.end(of: start) else {
            throw self.refusal(member.position, "\(self.what) is written in []")
        }
        if self.text.position(at: end - 1).line > position.line, rest.trimmedBlanks.isEmpty || rest.isComment {
            lines.insert("\(Self.blanks(member.position.column + 1))\(item)\(isEmpty ? "" : ",")", at: position.line)
        } else {
            lines.replace(position.line - 1, with: "\(head)\(item)\(isEmpty ? "" : ", ")\(rest)")
        }
        return lines.bytes
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    // MARK: Taking out

    /// The bytes without an element of a list.
    ///
    /// - Parameters:
    ///   - value: The element.
    ///   - member: The member that holds the list.
    func removing(_ value: YAMLValue, from member: YAMLValue.Member) throws(RepositoryError) -> [UInt8] {
        if self.scalar(at: member.value.position).0 == "[" { return try self.removingFromFlow(value, member) }
        return self.removingFromBlock(value, member)
    }

    /// From a block: the line of its hyphen, and all lines that lie deeper.
    private func removingFromBlock(_ value: YAMLValue, _ member: YAMLValue.Member) -> [UInt8] {
        var lines = SourceLines(self.bytes)
        let column = member.value.position.column - 1
        var first = value.position.line - 1
        while first > member.value.position.line - 1, lines.indentation(first) != column { first -= 1 }
        var last = max(first, value.position.line - 1)
        for line in (first + 1)..<max(first + 1, lines.lines.count) {
            // Blank lines and comments belong to what comes after them.
            guard let indentation = lines.indentation(line) else { continue }
            guard indentation > column else { break }
            last = line
        }
        lines.remove(first..<(last + 1))
        return lines.bytes
    }

    /// From `[…]`: what is left of its lines, unless nothing is.
    private func removingFromFlow(
        _ value: YAMLValue, _ member: YAMLValue.Member
    ) throws(RepositoryError) -> [UInt8] {
        let scalars = self.text.scalars
        let flow = FlowText(scalars)
        let start = self.scalar(at: value.position).1
        guard scalars.indices.contains(start), scalars[start] == "{", let end = flow.end(of: start) else {
            throw self.refusal(member.position, "an element of \(self.what) is in [] without {}")
        }
        var (first, last) = (start, end)
        let next = flow.skipBlanks(end)
        if next < scalars.count, scalars[next] == ",", self.text.position(at: next).line == value.position.line {
            last = next + 1
            while last < scalars.count, scalars[last] == " " { last += 1 }
        } else if let comma = scalars[..<start].lastIndex(where: { !" \t\r\n".unicodeScalars.contains($0) }),
            scalars[comma] == ","
        {
            first = comma
        }
        var kept = Array(scalars[..<first])
        let lineStart = (kept.lastIndex(of: "\n") ?? -1) + 1
        let isAlone = kept[lineStart...].allSatisfy { $0 == " " }
        var rest = scalars[last...]
        if isAlone, rest.first == nil || rest.first == "\n" || rest.first == "\r" {
            kept.removeSubrange(lineStart...)
            rest = rest.drop { $0 == "\r" }
            rest = rest.first == "\n" ? rest.dropFirst() : rest
        }
        let hasMark = self.bytes.starts(with: [0xEF, 0xBB, 0xBF])
        return (hasMark ? [0xEF, 0xBB, 0xBF] : []) + Array(Self.string(kept + rest).utf8)
    }
}

extension String {
    fileprivate var trimmedBlanks: Substring { self.drop { $0 == " " || $0 == "\t" } }

    fileprivate var isComment: Bool { self.trimmedBlanks.hasPrefix("#") }
}
