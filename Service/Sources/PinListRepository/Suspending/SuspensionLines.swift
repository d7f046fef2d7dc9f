// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListDifference
internal import PinListMetadata

/// Finds the lines of `suspended` in a source. It may be wrong about unusual layouts: whoever calls it reads the
/// result.
struct SuspensionLines {
    private let file: String
    private let root: YAMLValue
    private let members: [YAMLValue.Member]
    private let text: YAMLText
    private var lines: SourceLines

    init(_ bytes: [UInt8], file: String) throws(RepositoryError) {
        self.file = file
        self.root = try YAMLReader.read(bytes, file: file)
        guard case .mapping(let members) = self.root.content else {
            throw self.root.position.error("\(self.root.kind) where a mapping is expected")
        }
        self.members = members
        self.text = try YAMLText(bytes, file: file)
        self.lines = SourceLines(bytes)
    }

    private var member: YAMLValue.Member? { self.members.first { $0.name == "suspended" } }

    private func byHand(_ what: String) -> RepositoryError {
        (self.member?.position ?? self.root.position).error(
            "\(what), which cannot be edited by whole lines", hint: "change suspended: in \(self.file) by hand")
    }

    /// The scalar at a place, and its index.
    private func scalar(at position: SourcePosition) -> (Unicode.Scalar?, Int) {
        let index = self.text.index(line: position.line, column: position.column)
        return (self.text.scalars.indices.contains(index) ? self.text.scalars[index] : nil, index)
    }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    // MARK: Putting in

    /// The bytes with a suspension in front of the others.
    func inserting(_ suspension: Suspension) throws(RepositoryError) -> [UInt8] {
        var lines = self.lines
        let item = Self.item(suspension)
        guard self.scalar(at: self.root.position).0 != "{" else { throw self.byHand("the whole is written in {}") }
        guard let member else {
            let column = self.members.first?.position.column ?? 1
            lines.insert("\(Self.blanks(column - 1))suspended:", at: lines.lines.count)
            lines.insert("\(Self.blanks(column + 1))- \(item)", at: lines.lines.count)
            return lines.bytes
        }
        let line = member.position.line - 1
        switch member.value.content {
        case .scalar where member.value.isEmpty && !self.isWritten(member):
            lines.insert("\(Self.blanks(member.position.column + 1))- \(item)", at: line + 1)
        case .sequence(let values) where self.scalar(at: member.value.position).0 == "[":
            return try self.insertingIntoFlow(item, member, values.isEmpty)
        case .sequence:
            let first = member.value.position
            lines.insert("\(Self.blanks(first.column - 1))- \(item)", at: first.line - 1)
        default: throw self.byHand("suspended is \(member.value.kind)")
        }
        return lines.bytes
    }

    /// Whether an empty value is written out, as `~` or `null`.
    private func isWritten(_ member: YAMLValue.Member) -> Bool {
        guard case .scalar(let text, _) = member.value.content else { return true }
        return !text.isEmpty
    }

    /// Into `[…]`: its first line is replaced, and the rest stays.
    private func insertingIntoFlow(
        _ item: String, _ member: YAMLValue.Member, _ isEmpty: Bool
    ) throws(RepositoryError) -> [UInt8] {
        var lines = self.lines
        let position = member.value.position
        let line = self.lines.text(position.line - 1)
        // The column counts from behind a byte order mark, which is in the bytes.
        let offset = position.column + (position.line == 1 && line.unicodeScalars.first == "\u{FEFF}" ? 1 : 0)
        let scalars = Array(line.unicodeScalars)
        let head = Self.string(scalars.prefix(offset))
        let rest = Self.string(scalars.dropFirst(offset))
        let flow = FlowText(self.text.scalars)
        let (_, start) = self.scalar(at: position)
        guard let end = flow.end(of: start) else { throw self.byHand("suspended is written in []") }
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

    /// A suspension in one line. JSON's strings are YAML's.
    private static func item(_ suspension: Suspension) -> String {
        let scope = suspension.scope == .everything ? "\"*\"" : suspension.scope.text
        let domain = scope.contains(":") ? "\"\(scope)\"" : scope
        let reason = String(decoding: JSONValue.string(suspension.reason).bytes, as: UTF8.self)
        return "{domain: \(domain), until: \(suspension.until), reason: \(reason)}"
    }

    // MARK: Taking out

    /// The bytes without the first suspension of a scope.
    func removing(_ scope: Suspension.Scope) throws(RepositoryError) -> [UInt8] {
        guard let member, case .sequence(let values) = member.value.content else {
            throw self.byHand("suspended is written in another way")
        }
        for (index, value) in values.enumerated() where try Suspension.located(value).value.scope == scope {
            if self.scalar(at: member.value.position).0 == "[" { return try self.removingFromFlow(value) }
            return self.removing(value, index, of: values, member)
        }
        throw self.byHand("\(scope.text) is not there")
    }

    /// From a block: the line of its hyphen, and all lines that lie deeper.
    private func removing(
        _ value: YAMLValue, _ index: Int, of values: [YAMLValue], _ member: YAMLValue.Member
    ) -> [UInt8] {
        var lines = self.lines
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
    private func removingFromFlow(_ value: YAMLValue) throws(RepositoryError) -> [UInt8] {
        let scalars = self.text.scalars
        let flow = FlowText(scalars)
        let start = self.scalar(at: value.position).1
        guard scalars.indices.contains(start), scalars[start] == "{", let end = flow.end(of: start) else {
            throw self.byHand("a suspension in [] without {}")
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
        let hasMark = self.lines.lines.first?.starts(with: [0xEF, 0xBB, 0xBF]) == true
        return (hasMark ? [0xEF, 0xBB, 0xBF] : []) + Array(Self.string(kept + rest).utf8)
    }
}

extension String {
    fileprivate var trimmedBlanks: Substring { self.drop { $0 == " " || $0 == "\t" } }

    fileprivate var isComment: Bool { self.trimmedBlanks.hasPrefix("#") }
}
