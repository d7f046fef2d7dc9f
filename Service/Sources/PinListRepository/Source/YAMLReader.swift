// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// Reads one YAML document, within bounds. Yams parses; what it would do beyond is refused before: anchors and aliases
/// (a few lines of them unfold to gigabytes), tags, several documents, a member twice.
package enum YAMLReader {
    /// The maximum depth of nested values. A source needs five levels.
    static let maximumDepth = 16

    /// The maximum number of values of one file: 10,000 domains with 16 pins of three members each.
    static let maximumValues = 1_500_000

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, at most ``YAMLText/maximumLength``.
    ///   - file: The name that errors begin with.
    /// - Throws: ``RepositoryError`` with line and column.
    package static func read(_ bytes: [UInt8], file: String) throws(RepositoryError) -> YAMLValue {
        let text = try YAMLText(bytes, file: file)
        return try LargeStackThread.run { () throws(RepositoryError) in try self.read(text) }
    }

    private static func read(_ text: YAMLText) throws(RepositoryError) -> YAMLValue {
        let (harmless, places) = text.withoutAnchors
        var count = 0
        let tree = try self.value(of: try self.compose(harmless, text), text, places, depth: 0, &count)
        // Nothing in the text is an anchor or an alias, so that it may be parsed as it is.
        guard !places.isEmpty else { return tree }
        count = 0
        return try self.value(of: try self.compose(text.text, text), text, [], depth: 0, &count)
    }

    private static func compose(_ yaml: String, _ text: YAMLText) throws(RepositoryError) -> Node {
        let node: Node?
        do {
            node = try Yams.compose(yaml: yaml, .basic, .default, .utf8)
        } catch let error as YamlError {
            throw self.error(error, text)
        } catch {
            throw RepositoryError(.source, "\(text.file): not YAML")
        }
        guard let node else {
            throw RepositoryError(
                .source, "\(text.file): nothing is in it", hint: "docs/formats.md says what belongs into this file")
        }
        return node
    }

    private static func value(
        of node: Node, _ text: YAMLText, _ places: Set<Int>, depth: Int, _ count: inout Int
    ) throws(RepositoryError) -> YAMLValue {
        // A node that was parsed has a mark.
        let position = SourcePosition(file: text.file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
        count += 1
        guard depth <= self.maximumDepth else { throw position.error("over \(self.maximumDepth) levels deep") }
        guard count <= self.maximumValues else { throw position.error("over \(self.maximumValues) values") }
        let index = text.index(line: position.line, column: position.column)
        try self.checkTag(at: index, position, text)

        switch node {
        case .scalar(let scalar):
            if places.contains(index), scalar.style == .plain {
                let sign = text.scalars[index]
                throw position.error(
                    sign == "*" ? "an alias (*), or a text that begins with *" : "an anchor (&)",
                    hint: sign == "*"
                        ? "write \"*\" in quotation marks where it is meant; aliases are not read"
                        : "write the value out where it is used; anchors are not read")
            }
            return YAMLValue(content: .scalar(scalar.string, isPlain: scalar.style == .plain), position: position)
        case .sequence(let sequence):
            var values: [YAMLValue] = []
            values.reserveCapacity(sequence.count)
            for element in sequence {
                values.append(try self.value(of: element, text, places, depth: depth + 1, &count))
            }
            return YAMLValue(content: .sequence(values), position: position)
        case .mapping(let mapping):
            var members: [YAMLValue.Member] = []
            var seen: [String: Int] = [:]
            for pair in mapping {
                let key = try self.value(of: pair.key, text, places, depth: depth + 1, &count)
                guard case .scalar(let name, _) = key.content else {
                    throw key.position.error("\(key.kind) stands where a member's name is expected")
                }
                if let line = seen.updateValue(key.position.line, forKey: name) {
                    throw key.position.error("the member \(name) is there twice, first in line \(line)")
                }
                let value = try self.value(of: pair.value, text, places, depth: depth + 1, &count)
                members.append(YAMLValue.Member(name: name, position: key.position, value: value))
            }
            return YAMLValue(content: .mapping(members), position: position)
        case .alias:
            throw position.error("an alias (*)", hint: "write the value out; aliases are not read")
        }
    }

    /// A tag says how to read a value; here the member says that. The one that YAML itself would give to a time may
    /// stand before one.
    private static func checkTag(at index: Int, _ position: SourcePosition, _ text: YAMLText) throws(RepositoryError) {
        guard index < text.scalars.count, text.scalars[index] == "!" else { return }
        let timestamp = Array("!!timestamp ".unicodeScalars)
        let rest = text.scalars[index...]
        if rest.starts(with: timestamp), let next = rest.dropFirst(timestamp.count).first,
            ("0"..."9").contains(next) || next == "\"" || next == "'"
        {
            return
        }
        throw position.error("a tag (!)", hint: "remove it; a text that begins with ! goes into quotation marks")
    }

    /// The place of an error. What is missing at the end of the file is told by where it began.
    private static func position(of mark: Mark, _ begin: Mark?, _ text: YAMLText) -> SourcePosition {
        if mark.line <= text.lineCount {
            return SourcePosition(file: text.file, line: mark.line, column: mark.column)
        }
        if let begin, begin.line <= text.lineCount {
            return SourcePosition(file: text.file, line: begin.line, column: begin.column)
        }
        return text.position(at: text.scalars.count)
    }

    /// The error of the parser, in our words where there are better ones.
    private static func error(_ error: YamlError, _ text: YAMLText) -> RepositoryError {
        func located(_ mark: Mark, _ problem: String, _ context: YamlError.Context?) -> RepositoryError {
            let position = self.position(of: mark, context?.mark, text)
            if problem.contains("another document") {
                return position.error("a second document", hint: "one file holds one document; remove the ---")
            }
            let line = text.line(position.line)
            if line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
                return position.error("a tab in the indentation", hint: "indent with blanks")
            }
            let begin = context.map { " (\($0.text), begun in line \($0.mark.line))" } ?? ""
            // The error of an anchor may be in the line after it.
            let isSigned = (text.line(position.line - 1) + line).contains { $0 == "&" || $0 == "*" }
            return position.error(
                "not YAML: \(problem)\(begin)",
                hint: isSigned
                    ? "put a text with & or * into quotation marks; anchors and aliases are not read"
                    : "look at the indentation, the colons and the quotation marks of this line and the one before")
        }
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return located(mark, problem, context)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let position = SourcePosition(file: text.file, line: context.mark.line, column: context.mark.column)
            return position.error(
                "the member \(duplicates.first ?? "") is there twice",
                hint: "join the two, or remove one")
        default:
            return RepositoryError(.source, "\(text.file): not YAML")
        }
    }
}
