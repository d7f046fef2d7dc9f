// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// A mapping of a source while it is read: each member is taken once, and errors say where and what to write.
package struct SourceObject {
    /// The position at which it begins.
    package let position: SourcePosition

    private let members: [String: YAMLValue.Member]

    /// Begins to read a mapping.
    ///
    /// - Parameters:
    ///   - value: The value to read.
    ///   - what: The kind of object, for errors, such as `an entry of domains`.
    ///   - known: The members that there may be.
    /// - Throws: ``RepositoryError`` for anything else, and for an unknown member.
    package init(_ value: YAMLValue, _ what: String, known: [String]) throws(RepositoryError) {
        self.position = value.position
        guard case .mapping(let members) = value.content else {
            throw value.position.error(
                "\(value.kind) where \(what) is expected", hint: "write the members \(known.joined(separator: ", "))")
        }
        for member in members where !known.contains(member.name) {
            let name = PrintableText.line(member.name, maximumLength: 64)
            throw member.position.error(
                "\(what) has no member \(name)",
                hint: NearestName.of(member.name, among: known).map { "write \($0)" }
                    ?? "known are \(known.joined(separator: ", "))")
        }
        self.members = Dictionary(members.map { ($0.name, $0) }) { first, _ in first }
    }

    /// A member that holds something; `nil` where there is none, or nothing in it.
    package func value(_ name: String) -> YAMLValue? {
        self.members[name].flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The place of a member's name, or of the whole.
    package func position(of name: String) -> SourcePosition { self.members[name]?.position ?? self.position }

    /// The members that are present, of some names.
    package func present(among names: [String]) -> [String] { names.filter { self.members[$0] != nil } }

    /// The error that a member is missing.
    package func missing(_ name: String, _ example: String) -> RepositoryError {
        self.position(of: name).error("\(name) is missing", hint: "write \(example)")
    }

    /// A single value, as it is written.
    package func scalar(_ name: String) throws(RepositoryError) -> (
        text: String, isPlain: Bool, position: SourcePosition
    )? {
        guard let member = self.members[name] else { return nil }
        guard case .scalar(let text, let isPlain) = member.value.content else {
            throw member.value.position.error("\(name) is \(member.value.kind), not a single value")
        }
        guard !member.value.isEmpty else {
            throw member.position.error("\(name) is empty", hint: "write a value, or remove the line")
        }
        return (text, isPlain, member.value.position)
    }

    package func text(_ name: String) throws(RepositoryError) -> Located<String>? {
        try self.scalar(name).map { Located($0.text, $0.position) }
    }

    package func bool(_ name: String) throws(RepositoryError) -> Bool {
        guard let (text, isPlain, position) = try self.scalar(name) else { return false }
        switch (text, isPlain) {
        case ("true", true): return true
        case ("false", true): return false
        default: throw position.error("\(name) is neither true nor false", hint: "write true or false, unquoted")
        }
    }

    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(RepositoryError) -> Int64? {
        guard let (text, isPlain, position) = try self.scalar(name) else { return nil }
        let isDecimal =
            text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0"))
        guard isPlain, isDecimal, let number = Int64(text), range.contains(number) else {
            throw position.error(
                "\(name) is not a number from \(range.lowerBound) to \(range.upperBound)",
                hint: "write it in decimal digits alone")
        }
        return number
    }

    func duration(_ name: String) throws(RepositoryError) -> Located<Int64>? {
        guard let (text, _, position) = try self.scalar(name) else { return nil }
        guard let seconds = SourceDuration.seconds(of: text) else {
            throw position.error("\(name) is not a length of time", hint: "write \(SourceDuration.form)")
        }
        return Located(seconds, position)
    }

    func time(_ name: String) throws(RepositoryError) -> Located<Timestamp>? {
        guard let (text, _, position) = try self.scalar(name) else { return nil }
        do { return Located(try Timestamp(text), position) } catch {
            throw position.error(
                "\(name) is not a point in time",
                hint: SourceDuration.seconds(of: text) == nil
                    ? error.reason : "a length of time would prolong it with each build; \(error.reason)")
        }
    }

    /// One of the raw values of an enumeration.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default value: Choice
    ) throws(RepositoryError) -> Choice {
        guard let (text, _, position) = try self.scalar(name) else { return value }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue)
            throw position.error(
                "\(name) must be one of \(known.joined(separator: ", "))",
                hint: NearestName.of(text, among: known).map { "write \($0)" })
        }
        return choice
    }

    /// The values of a list; a single value stands for a list of one where that is allowed.
    ///
    /// - Parameter maximum: The maximum number of values.
    package func list(_ name: String, maximum: Int, orOne: Bool = false) throws(RepositoryError) -> [YAMLValue] {
        guard let value = self.value(name) else { return [] }
        guard case .sequence(let values) = value.content else {
            if orOne, case .scalar = value.content { return [value] }
            throw value.position.error("\(name) is \(value.kind), not a list", hint: "begin each element with -")
        }
        if values.count > maximum { throw values[maximum].position.error("\(name) has over \(maximum) elements") }
        return values
    }

    /// A list of texts.
    package func texts(_ name: String, maximum: Int) throws(RepositoryError) -> [Located<String>] {
        var texts: [Located<String>] = []
        for value in try self.list(name, maximum: maximum, orOne: true) {
            guard case .scalar(let text, _) = value.content, !value.isEmpty else {
                throw value.position.error("\(value.kind) where a text is expected in \(name)")
            }
            texts.append(Located(text, value.position))
        }
        return texts
    }

    /// A list of addresses for reports.
    func addresses(_ name: String) throws(RepositoryError) -> [String] {
        var addresses: [String] = []
        for text in try self.texts(name, maximum: 64) {
            guard ReportAddress.isAllowed(text.value) else {
                throw text.position.error(
                    "\(name) is not an https URL",
                    hint: "write https://HOST/PATH, without a user or a fragment; http is for loopback alone")
            }
            addresses.append(text.value)
        }
        return addresses
    }
}

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

/// A place in a file that people write: errors and findings name it.
public struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The file, as it was named.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1, in Unicode scalars, as editors count it.
    public let column: Int

    /// Names a place.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `tumbler.yaml:12:5`
    public var description: String { "\(self.file):\(self.line):\(self.column)" }

    /// An error at this place.
    package func error(_ reason: String, hint: String? = nil) -> RepositoryError {
        RepositoryError(.source, "\(self): \(reason)", hint: hint)
    }
}

/// A value and where it was written.
///
/// Equal when the values are: two sources that differ only in their layout mean the same.
public struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// The position in the source.
    public let position: SourcePosition

    /// Joins the two.
    public init(_ value: Value, _ position: SourcePosition) {
        self.value = value
        self.position = position
    }

    /// Equal when the values are.
    public static func == (left: Located, right: Located) -> Bool { left.value == right.value }

    /// Feeds the value alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}
