// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The lines of one list at the top of a source, such as `suspended` or `revoked`: elements come and go by whole lines. It
/// may be wrong about unusual layouts: the caller reads the result.
struct SectionLines {
    /// The lines of the list.
    let lines: SequenceLines

    private let name: String
    private let root: YAMLValue
    private let members: [YAMLValue.Member]
    private let bytes: [UInt8]

    /// Begins with a file.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - name: The name of the list.
    ///   - file: The file's name.
    /// - Throws: ``RepositoryError`` for a file that cannot be read, or is no mapping.
    init(_ bytes: [UInt8], of name: String, file: String) throws(RepositoryError) {
        self.root = try YAMLReader.read(bytes, file: file)
        guard case .mapping(let members) = self.root.content else {
            throw self.root.position.error("\(self.root.kind) where a mapping is expected")
        }
        self.name = name
        self.members = members
        self.bytes = bytes
        self.lines = try SequenceLines(
            bytes, file: file, what: name, byHand: "change \(name): in \(file) by hand")
    }

    /// The member that holds the list; `nil` where there is none yet.
    var member: YAMLValue.Member? { self.members.first { $0.name == self.name } }

    /// The position of the list, or the one that it would have.
    var position: SourcePosition { self.member?.position ?? self.root.position }

    /// The bytes with an element in front of the others.
    ///
    /// - Parameter item: The element as YAML, in one line.
    func inserting(_ item: String) throws(RepositoryError) -> [UInt8] {
        guard self.lines.scalar(at: self.root.position).0 != "{" else {
            throw self.lines.refusal(self.root.position, "the whole is written in {}")
        }
        guard let member else {
            var lines = SourceLines(self.bytes)
            let blanks = String(repeating: " ", count: max(0, (self.members.first?.position.column ?? 1) - 1))
            lines.insert("\(blanks)\(self.name):", at: lines.lines.count)
            lines.insert("\(blanks)  - \(item)", at: lines.lines.count)
            return lines.bytes
        }
        return try self.lines.inserting(item, into: member)
    }
}
